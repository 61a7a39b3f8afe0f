"""
The slab in w-space: a cut through three dimensions
===================================================

With a bias, w-space of two features has three dimensions, (w₁, w₂, b). Three rows ask for y(⟨w, x⟩ + b) ≥
1, three half-spaces; the point of their intersection with the shortest (w₁, w₂) is the maximum margin, here
w = (1, 4)/17. The picture on the right is the cut through that space at w₁ = 1/17: the region that is left
touches its lowest absolute w₂ at one point.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import MaxMargin, datasets, plots, proofs

X, y, *_ = datasets.slab_points()
best = MaxMargin().fit(X, y)
space = proofs.weight_space(X, y, fit_intercept=True, margin=1)
print(f"w = {17 * best.coef_[0]}/17, b = {best.intercept_[0]:.4f}, slab of width {best.slab_width_:.4f}")
print(f"(w, b) of weight_space: {np.round(17 * space.optimum, 12)}/17, on the rows {space.support}")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
plots.HalfspaceDisplay.from_estimator(best, X, y, ax=left)
w2, b = np.meshgrid(np.linspace(-0.2, 0.8, 300), np.linspace(-1.0, 1.0, 300))
points = np.stack([np.full_like(w2, space.optimum[0]), w2, b], axis=-1)
inside = (points @ space.normals.T >= space.offsets - 1e-12).all(axis=-1)
right.contourf(w2, b, inside, levels=[0.5, 1.5], colors=["#009E73"], alpha=0.3)
for i, style in enumerate(("k-", "k--", "k:")):
    normal, offset = space.normals[i], space.offsets[i]
    line = (offset - normal[0] * space.optimum[0] - normal[1] * w2[0]) / normal[2]
    right.plot(w2[0], line, style, label=f"row ({X[i][0]:g}, {X[i][1]:g}), y = {y[i]:+d}")
right.plot(
    *space.optimum[1:], "*", color="#F0E442", markeredgecolor="k", markersize=16, label="maximum margin"
)
right.set(xlim=(-0.2, 0.8), ylim=(-1, 1), xlabel="$w_2$", ylabel="$b$")
right.set_title("w-space at $w_1 = 1/17$: where all three margins are at least 1")
right.legend(fontsize="small")
plt.show()
