"""
Do several classes need a bias?
===============================

With one prototype per class, and the class of the largest inner product predicted, is the augmented
coordinate still needed? Yes: three classes along a line through the origin cannot be told apart without it,
since the middle prototype would have to win between the others, while all scores are linear. With a bias each
score is an affine function, and the largest of three affine functions has three pieces.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron

plt.style.use("tableau-colorblind10")
rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 30)
X = np.column_stack([(y - 1) * 3.0 + rng.uniform(-1, 1, 90), rng.uniform(-0.5, 0.5, 90)])

figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), sharey=True, layout="constrained")
x = np.linspace(-4.5, 4.5, 200)
for ax, bias in zip(axes, (False, True), strict=True):
    model = Perceptron(fit_intercept=bias, max_iter=200, random_state=0).fit(X, y)
    right = np.mean(model.predict(X) == y)
    how = f"{model.n_iter_} epochs ({model.stop_reason_})"
    print(f"{'with' if bias else 'without'} bias: {right:.0%} right after {how}")
    scores = model.decision_function(np.column_stack([x, np.zeros_like(x)]))
    for label, style, marker in zip(range(3), ("C0-", "C1--", "C3:"), "o^s", strict=True):
        (line,) = ax.plot(x, scores[:, label] / np.abs(scores).max(), style, label=f"score of class {label}")
        ax.plot(X[y == label, 0], X[y == label, 1] - 1.6, marker, color=line.get_color(), alpha=0.6)
    ax.set(xlabel="$x_1$", title=f"{'With' if bias else 'Without'} a bias: {right:.0%} of the rows right")
axes[0].set_ylabel("score at $x_2 = 0$; rows below")
axes[0].legend(fontsize="small", loc="upper center")
plt.show()
