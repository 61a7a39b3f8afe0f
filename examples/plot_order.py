"""
The order of the rows, and shuffling
====================================

The theorem on the perceptron's mistakes holds for every order. How many epochs it takes to make them
depends on the order: here, with all rows of one class before those of the other, the run takes several
times the epochs of a shuffle, and makes more mistakes. It need not: on ``separable(400, 10, margin=0.05,
random_state=1)`` without an intercept the same order took the fewest epochs and mistakes of the four. These
rows were chosen to show the effect.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron, proofs

plt.style.use("tableau-colorblind10")
X, y, *_ = proofs.separable(400, 5, margin=0.05, offset=0.5, random_state=1)
n, rng = len(y), np.random.default_rng(0)
by_class = np.argsort(y, kind="stable")
share = np.empty(n)  # of its class that comes before a row
for label in (-1, 1):
    share[y == label] = np.linspace(0, 1, np.sum(y == label))
epochs = 200
orders = {
    "one class after the other": [by_class] * epochs,
    "classes mixed evenly": [np.argsort(share, kind="stable")] * epochs,
    "shuffled once": [rng.permutation(n)] * epochs,
    "shuffled before every epoch": [rng.permutation(n) for _ in range(epochs)],
}

figure, ax = plt.subplots(layout="constrained")
for (name, order), style in zip(orders.items(), ("C0-", "C1--", "C3-.", "C4:"), strict=True):
    model = Perceptron(random_state=0)
    mistakes = [0]
    for rows in order:
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
        mistakes.append(model.n_mistakes_)
        if mistakes[-1] == mistakes[-2]:
            break
    print(f"{name:28} {len(mistakes) - 1:4} epochs, {mistakes[-1]:5,} mistakes")
    ax.plot(mistakes, style, label=f"{name}: {mistakes[-1]:,}")
ax.set(xlabel="epochs", ylabel="mistakes so far", xlim=(0, None), ylim=(0, None))
ax.set_title("One class after the other takes many more epochs than a shuffle")
ax.legend(title="mistakes until a clean pass")
plt.show()
