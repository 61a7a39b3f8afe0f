"""
The risk surface, gradient descent, and step sizes
==================================================

The perceptron risk R(w), the sum of −y⟨w, x⟩ over the rows on the wrong side, is a surface of flat pieces;
its creases are the lines ⟨w, x⟩ = 0, one for each row, and where it is 0 no row is on the wrong side.
Gradient descent goes down the piece that it is on. Small steps take long. Large ones jump over the valley,
so that the risk rises before it falls; they do not take longer here, since w grows with them, and the next
step is smaller beside it. The risk also falls where w only becomes shorter, and w = 0 has risk 0 and
separates nothing. So the line search of ``RiskDescent`` keeps w at least half as long as it was at the
start, and from this start it ends there, stalled, with rows still on the wrong side.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import RiskDescent, plots, proofs, theory

X, y, *_ = proofs.separable(40, 2, margin=0.04, random_state=0)
X = 3.0 * X
start = np.array([[2.0, -3.0]])
steps = {"ε = 0.001": 0.001, "ε = 0.01": 0.01, "ε = 0.1": 0.1, "ε = 1": 1.0, "line search": "line-search"}

plt.style.use("tableau-colorblind10")
figure, (surface, curve) = plt.subplots(1, 2, figsize=(13, 5.5), layout="constrained")
for (name, step), style in zip(steps.items(), ("C0:", "C1--", "C3-.", "C4-", "k-"), strict=True):
    model = RiskDescent(fit_intercept=False, step=step, keep_path=True).fit(X, y, coef_init=start)
    print(
        f"{name:12} {model.n_iter_:4} steps, {model.stop_reason_}, highest risk {max(model.risk_curve_):.1f}"
    )
    curve.plot(model.risk_curve_, style, label=f"{name}: {model.n_iter_} steps, {model.stop_reason_}")
    if step == 0.01:
        plots.RiskSurfaceDisplay.from_estimator(model, X, y, ax=surface)
lengths = np.linalg.norm(model.path_[[0, -1]], axis=1)
print(f"‖w‖ of the line search: {lengths[0]:.3f} at the start, {lengths[1]:.3f} at the end")
print(f"R(w) at the start: {theory.risk(start[0], X, y):.1f}")
curve.set_xscale("symlog")
curve.set_yscale("symlog")
curve.set(xlabel="steps", ylabel="risk R(w)", title="Small steps are slow, large ones overshoot")
curve.legend(fontsize="small", loc="lower left", framealpha=1.0)
plt.show()
