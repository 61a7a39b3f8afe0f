"""
Hard and easy: mistakes against the margin
==========================================

The perceptron's mistakes are bounded by (R/γ)², whatever the number of rows or of features. Each point is a
set of 1,000 rows of length at most 1 in 20 dimensions that a hidden hyperplane separates with margin γ.
Mistakes grow as the margin shrinks, and stay below the line of Novikoff's theorem; random data are far from
the worst case, which an adversary reaches (see ``plot_adversary.py``).
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron, proofs, theory

plt.style.use("tableau-colorblind10")
margins = np.geomspace(0.4, 0.01, 9)
found, allowed = [], []
for gamma in margins:
    counts = []
    for seed in range(3):
        X, y, *_ = proofs.separable(1000, 20, margin=gamma, random_state=seed)
        model = Perceptron(fit_intercept=False, max_iter=None, random_state=seed).fit(X, y)
        counts.append(model.n_mistakes_)
    found.append(counts)
    allowed.append(theory.novikoff(1.0, gamma))
    print(f"γ = {gamma:5.3f}: {', '.join(f'{n:5,}' for n in counts)} mistakes, at most {allowed[-1]:9,.0f}")

figure, ax = plt.subplots(layout="constrained")
ax.loglog(margins, allowed, "C1--", label="Novikoff's bound, $R^2/\\gamma^2$")
ax.loglog(margins, found, "C0o", label=["mistakes of the perceptron, three seeds", None, None])
ax.invert_xaxis()
ax.set(xlabel="margin γ: easy to hard", ylabel="mistakes until a clean pass")
ax.set_title("The smaller the margin, the more mistakes, and never more than the theorem allows")
ax.legend()
plt.show()
