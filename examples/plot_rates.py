"""
Variable rates: 1, 1/updates, 1/examples
========================================

From w = 0 a constant rate only scales w, so that it changes no prediction. Rates that fall move w less and
less. In these runs, of one order each, the rate 1/(examples seen) calms the last vector down on clouds that
overlap, and 1/(updates made) does not; on the separable rows the rate 1/(examples seen) has made no clean
pass at the end, while the two others have.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import AveragedPerceptron, Perceptron, datasets, proofs

plt.style.use("tableau-colorblind10")
rates = {"constant rate 1": 1.0, "rate 1/updates": "updates", "rate 1/examples": "examples"}
noisy = datasets.overlapping_clouds(400, random_state=1)
test = datasets.overlapping_clouds(4000, random_state=2)
clean = proofs.separable(200, 5, margin=0.05, random_state=0)
epochs = 60

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for (name, rate), style in zip(rates.items(), ("C0-", "C1--", "C3:"), strict=True):
    model = Perceptron(learning_rate=rate, random_state=0)
    errors = []
    for epoch in range(epochs):
        rows = np.random.default_rng(epoch).permutation(len(noisy.y))
        model.partial_fit(noisy.X[rows], noisy.y[rows], classes=[-1, 1])
        errors.append(100 * np.mean(model.predict(test.X) != test.y))
    left.plot(range(1, epochs + 1), errors, style, label=name)
    model = Perceptron(learning_rate=rate, fit_intercept=False, random_state=0)
    mistakes = [0]
    for epoch in range(epochs):
        rows = np.random.default_rng(epoch).permutation(len(clean.y))
        model.partial_fit(clean.X[rows], clean.y[rows], classes=[-1, 1])
        mistakes.append(model.n_mistakes_)
    right.plot(mistakes, style, label=name)
    ended = "a clean pass" if mistakes[-1] == mistakes[-2] else "no clean pass"
    print(
        f"{name:16} overlapping: {np.mean(errors[-20:]):5.2f} ± {np.std(errors[-20:]):.2f} % in the last 20 "
        f"epochs; separable: {mistakes[-1]:,} mistakes, {ended} after {epochs}"
    )
mean = AveragedPerceptron(max_iter=epochs, random_state=0).fit(noisy.X, noisy.y)
left.axhline(
    100 * np.mean(mean.predict(test.X) != test.y), color="k", linewidth=0.8, label="average of all vectors"
)
left.set(
    xlabel="epochs",
    ylabel="test error of the last vector, %",
    title="Overlapping clouds: the rate 1/examples calms down",
)
right.set(xlabel="epochs", ylabel="mistakes so far", title="Separable rows: short steps correct slowly")
left.legend(fontsize="small")
right.legend(fontsize="small")
plt.show()
