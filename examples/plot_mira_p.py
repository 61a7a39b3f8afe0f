"""
AMIRA: a larger p, a larger margin, a longer run
================================================

p-aggressive MIRA (AMIRA) updates on every row whose functional margin is below p, and steps to a margin of
1. For p = 0 it learns from mistakes alone; as p grows to 1 the margin that it ends with approaches the best
one, and the run takes more epochs. How many more depends on the data: on the easy ``clouds_far``, centred,
every p takes two.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import MIRA, MaxMargin, proofs

plt.style.use("tableau-colorblind10")
X, y, *_ = proofs.separable(200, 10, margin=0.05, random_state=0)
best = MaxMargin(fit_intercept=False).fit(X, y).margin_
values = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99])
epochs, reached = [], []
for p in values:
    runs = [MIRA(p=p, fit_intercept=False, max_iter=None, random_state=seed).fit(X, y) for seed in range(5)]
    epochs.append(np.mean([run.n_iter_ for run in runs]))
    reached.append(np.mean([run.margin_bounds_[0] for run in runs]) / best)
    print(f"p = {p:4.2f}: {epochs[-1]:6.1f} epochs, {reached[-1]:6.1%} of the best margin, {best:.3f}")

figure, left = plt.subplots(layout="constrained")
(share,) = left.plot(values, 100 * np.asarray(reached), "C0o-", label="margin at the end, % of the best")
left.set(xlabel="p", ylabel="margin at the end, % of the best", ylim=(0, 105))
right = left.twinx()
(time,) = right.plot(values, epochs, "C1s--", label="epochs until a clean pass")
right.set(ylabel="epochs until a clean pass", ylim=(0, None))
left.legend(handles=[share, time], loc="center left")
left.set_title("AMIRA pays for its margin with epochs (mean of 5 shuffles)")
plt.show()
