"""
Augmented space: a bias is one more coordinate
==============================================

A threshold on a line is no hyperplane through the origin. Give every row a constant coordinate B, and it is
one: the rows lie on the line x₂ = B of the plane, and a line through the origin meets it at the threshold.
The margin that counts in the theorems is the distance from that line through the origin; it shrinks as the
rows move away from 0, although the gap between the classes stays the same. A larger B
(``intercept_scaling``) makes up for it.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import MaxMargin, Perceptron

plt.style.use("tableau-colorblind10")
points = np.array([-1.8, -1.3, -0.9, -0.5, 0.5, 0.8, 1.2, 1.9])
y = np.sign(points)
cases = {
    "near the origin, B = 1": (0.0, 1.0),
    "moved by 4, B = 1": (4.0, 1.0),
    "moved by 4, B = 4": (4.0, 4.0),
}

figure, axes = plt.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
for ax, (name, (shift, B)) in zip(axes, cases.items(), strict=True):
    rows = np.column_stack([points + shift, np.full(len(points), B)])
    best = MaxMargin(fit_intercept=False).fit(rows, y)
    model = Perceptron(intercept_scaling=B, max_iter=None, shuffle=False).fit(points[:, None] + shift, y)
    u = best.coef_[0] / np.hypot(*best.coef_[0])
    print(f"{name:24} augmented margin {best.margin_:.3f}, {model.n_mistakes_} mistakes of the perceptron")
    ax.axhline(B, color="0.8", linewidth=1, zorder=0)
    ax.plot(*rows[y > 0].T, "C0o", label="class +1")
    ax.plot(*rows[y < 0].T, "C1s", label="class −1")
    reach = 1.4 * np.hypot(shift + 0.4, B)
    for offset, style in ((0.0, "k-"), (best.margin_, "k:"), (-best.margin_, "k:")):
        ends = np.outer([-0.15 * reach, reach], [-u[1], u[0]] if u[0] > 0 else [u[1], -u[0]]) + offset * u
        ax.plot(*ends.T, style, linewidth=1)
    ax.plot(0, 0, "k+", markersize=10)
    ax.annotate("origin", (0, 0), (6, -14), textcoords="offset points")
    ax.set(aspect="equal", xlabel="$x_1$", ylabel="constant coordinate")
    ax.set(
        title=f"{name}: margin {best.margin_:.2f}", xlim=(-2.3, max(2.3, shift + 2.3)), ylim=(-0.6, B + 1.2)
    )
axes[0].legend(fontsize="small", loc="upper left")
plt.show()
