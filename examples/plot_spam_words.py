"""
The words of spam
=================

A linear model of words can be read: each word has a weight, and the weights of the words in a text add up to
its score. The strongest words of ``TextClassifier`` on the SMS spam collection, and why it takes one text for
spam. The second picture has the words of the lecture's table. Without the collection, the stored figure is
shown in place of the first.
"""

import matplotlib.pyplot as plt
import numpy as np
from _stored import stored

from perceptrons import Perceptron, TextClassifier, datasets, plots

if datasets.find("sms_spam") is None:
    stored("plot_spam_words", "sms_spam", "The SMS spam collection")
else:
    sms = datasets.load_sms()
    texts, labels = np.asarray(sms.X, object), np.asarray(sms.target_names)[sms.y]
    model = TextClassifier(tokens="words", ngram_range=(1, 1), keep_names=True, random_state=0)
    model.fit(texts[:4000], labels[:4000])
    errors = np.mean(model.predict(texts[4000:]) != labels[4000:])
    print(f"test error {errors:.2%} on {len(texts) - 4000:,} texts")
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    plots.TopFeaturesDisplay.from_estimator(model, n=10, ax=left)
    sure = texts[4000 + int(np.argmax(model.decision_function(texts[4000:])))]
    plots.ExplanationDisplay.from_estimator(model, sure, ax=right)
    print(sure)

words = datasets.spam_words()
model = Perceptron(fit_intercept=False, shuffle=False, max_iter=None).fit(words.X, words.y)
print("the lecture's table:", dict(zip(words.feature_names, model.coef_[0].tolist(), strict=True)))
plots.TopFeaturesDisplay.from_estimator(model, feature_names=words.feature_names)
plt.show()
