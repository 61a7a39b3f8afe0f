"""How near online learners come to the maximum margin, and what it costs them.

``MaxMargin`` solves the quadratic program and closes the duality gap. ``MarginPerceptron(gamma="auto")``
guesses a margin, halves the guess whenever it is refuted, and ends with at least (1 - ε)/2 of the best.
Aggressive ``ROMMA`` is told a share δ that may be missing, and a clean pass has at least 1 - δ of the best.
Neither knows the best margin. All look for a hyperplane through the origin, so that their margins are of one
kind; a column of ones takes the place of the bias.
"""

import numpy as np
from sklearn.datasets import load_digits

from perceptrons import ROMMA, MarginPerceptron, MaxMargin, Perceptron, theory

images, digits = load_digits(return_X_y=True)
chosen = (digits == 3) | (digits == 8)
X = np.column_stack([images[chosen] / 16.0, np.ones(chosen.sum())])
y = np.where(digits[chosen] == 8, 1, -1)

online = {"fit_intercept": False, "max_iter": None, "random_state": 0}
learners = [(Perceptron(**online), 0.0)]
for eps in (0.5, 0.1):
    learners.append((MarginPerceptron(gamma="auto", eps=eps, **online), (1.0 - eps) / 2.0))
for delta in (0.5, 0.1, 0.01):
    learners.append((ROMMA(aggressive=True, delta=delta, **online), 1.0 - delta))

best = MaxMargin(fit_intercept=False).fit(X, y)
print(f"digits 3 and 8: {len(y)} rows, {X.shape[1]} features")
print(f"maximum margin  {best.margin_:.6f}, gap {best.gap_:.0e}, {best.n_support_} support rows\n")
print(f"{'':30}{'epochs':>8}{'updates':>10}{'margin':>10}{'of the best':>13}{'promised':>10}")
for learner, promised in learners:
    learner.fit(X, y)
    margin = theory.gamma_low(learner.coef_[0], X, y)
    allowed = [f"{name}={getattr(learner, name)}" for name in ("eps", "delta") if hasattr(learner, name)]
    name = f"{type(learner).__name__}({', '.join(allowed)})"
    counts = f"{learner.n_iter_:8,}{learner.n_updates_:10,}"
    print(f"{name:30}{counts}{margin:10.6f}{margin / best.margin_:13.1%}{promised:10.1%}")
