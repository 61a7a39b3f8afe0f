"""
One update after the other
==========================

The perceptron on a few points, frame by frame: the row that is looked at and lies on the wrong side, and
the hyperplane before and after w ← w + yx. Each update turns w towards a positive row, or away from a
negative one; a later row can undo a part of it, and yet the run ends.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron, proofs, trace

plt.style.use("tableau-colorblind10")
X, y, *_ = proofs.separable(16, 2, margin=0.1, random_state=9)
run = trace(Perceptron(fit_intercept=False, max_iter=None, shuffle=False), X, y)
visits = np.flatnonzero(run.kind != "none")
print(f"{len(visits)} updates in {len(run)} visits, on the rows {run.row[visits]}")
alpha = np.bincount(run.row, run.step, minlength=len(y))  # how often each row was added
assert np.allclose(run.w[-1][:2], (alpha * y) @ X)  # w is the sum of α y x
print(f"w = {run.w[-1][:2].round(3)} is the sum of α y x with α = {alpha.astype(int)}")


def hyperplane(ax, w, style, label):
    """The line ⟨w, x⟩ = 0, and w as an arrow; nothing for w = 0."""
    length = np.hypot(*w)
    if length:
        along = 1.6 * np.array([-w[1], w[0]]) / length
        ax.plot(*np.transpose([-along, along]), style, label=label)
        ax.annotate("", 0.45 * w / length, (0, 0), arrowprops={"arrowstyle": "->", "color": style[:-1]})


figure, axes = plt.subplots(2, 4, figsize=(15, 7.8), layout="constrained")
for ax, t in zip(axes.flat, visits, strict=True):
    row = run.row[t]
    for label, marker in ((1, "o"), (-1, "s")):
        ax.plot(*X[y == label].T, marker, color="C0" if label > 0 else "C1", alpha=0.6)
    ax.plot(*X[row], "o", markersize=15, markerfacecolor="none", markeredgecolor="k")
    hyperplane(ax, run.w[t][:2], "C3:", "before")
    hyperplane(ax, run.w[t + 1][:2], "k-", "after")
    side = "+" if y[row] > 0 else "−"
    ax.set_title(f"row {row}, y = {side}1, ⟨w, x⟩ = {run.score[t]:.2f}: w ← w {side} x", fontsize="medium")
    ax.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xlabel="$x_1$", ylabel="$x_2$")
axes.flat[1].legend(loc="lower left")
figure.suptitle(f"{run.n_mistakes[-1]} mistakes, one after the other, then a clean pass")
plt.show()
