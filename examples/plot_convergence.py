"""
Convergence, and its proof as it happens
========================================

Why does the perceptron stop? Take any unit vector u that separates the rows with margin γ. Each mistake
adds at least γ to ⟨u, w⟩, so that after k mistakes ⟨u, w⟩ ≥ kγ; and each adds at most R² to ‖w‖², so that
‖w‖ ≤ √k·R. A straight line overtakes a square root: at k = (R/γ)² the two meet, and there can be no further
mistake. Both statements are checked here at every update of a run.
"""

import matplotlib.pyplot as plt

from perceptrons import Perceptron, plots, proofs, trace

X, y, *_ = proofs.separable(30, 2, margin=0.15, random_state=6)
model = Perceptron(fit_intercept=False, max_iter=None, shuffle=False)
run = trace(model, X, y, u="max-margin")
print(run)
print(f"kγ passes √k·R at k = {run.proof.crossing}")

figure, axes = plt.subplots(2, 2, figsize=(13, 10), layout="constrained")
plots.HalfspaceDisplay.from_estimator(model.fit(X, y), X, y, ax=axes[0, 0])
plots.WeightSpaceDisplay.from_trace(run, ax=axes[0, 1])
plots.MistakeCurveDisplay.from_trace(run, ax=axes[1, 0])
plots.ConvergenceProofDisplay.from_trace(run, ax=axes[1, 1])
plt.show()
