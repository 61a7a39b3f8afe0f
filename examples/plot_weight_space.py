"""
x-space and w-space
===================

What is a point in one space is a line in the other. A hyperplane of x-space is a point w; a row x of class
y allows the half-space y⟨w, x⟩ > 0 of w-space. The intersection of all of them, a cone, holds every
separator. Each update of the perceptron moves w towards the inside of the half-space of the row that it has
got wrong. Asking for y⟨w, x⟩ ≥ 1 moves each line away from the origin, and the point of the remaining
region that is nearest to the origin is the w of the maximum margin.

==========================================  ==========================================
x-space                                     w-space
==========================================  ==========================================
a row x                                     a line through the origin, ⟨w, x⟩ = 0
a hyperplane through the origin, with w     a point w
x is on the positive side of w              w is on the side of the line that x points to
x is on the hyperplane of w                 w is on the line of x
the rows are separable                      the cone of all half-spaces is not empty
an update w ← w + yx                        a move of w at a right angle to the line of x
a margin of at least 1                      a half-plane at a distance of 1/‖x‖
==========================================  ==========================================
"""

import matplotlib.pyplot as plt

from perceptrons import MaxMargin, Perceptron, datasets, plots, proofs, trace

X, y, *_ = datasets.four_points()
run = trace(Perceptron(fit_intercept=False, shuffle=False, max_iter=None), X, y)
space = proofs.weight_space(X, y)
best = MaxMargin(fit_intercept=False).fit(X, y)
print(f"updates on the rows {run.row[run.kind != 'none']}, w = {run.w[-1][:-1]}")
print(f"the cone of the separators is between {space.rays.round(3).tolist()}")
print(f"maximum margin {best.margin_:.3f} at w = {best.coef_[0].round(3)}")

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(17, 5.5), layout="constrained")
plots.HalfspaceDisplay.from_estimator(best, X, y, ax=left)
left.set_title("x-space: the slab of the maximum margin")
plots.WeightSpaceDisplay.from_trace(run, ax=middle)
plots.WeightSpaceDisplay.from_data(X, y, margin=1, ax=right)
plt.show()
