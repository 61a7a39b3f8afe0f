"""
The adversary that meets the bound
==================================

No deterministic learner can do better than the perceptron in the worst case. The adversary shows the unit
vectors one after the other and labels each one against the prediction; the rows stay separable with margin γ,
and after 1/γ² of them every learner has made 1/γ² mistakes.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import AROW, MIRA, AveragedPerceptron, Perceptron, proofs, theory

plt.style.use("tableau-colorblind10")
gamma = 0.2
learners = {
    "Perceptron": Perceptron(fit_intercept=False),
    "AveragedPerceptron": AveragedPerceptron(fit_intercept=False),
    "MIRA": MIRA(fit_intercept=False),
    "AROW": AROW(fit_intercept=False),
}
bound = theory.novikoff(1.0, gamma)

figure, ax = plt.subplots(layout="constrained")
for k, (name, learner) in enumerate(learners.items()):
    n, (X, y), u = proofs.force_mistakes(learner, gamma)
    margin = np.min(y * (X @ u))
    print(f"{name:20} {n} mistakes in {len(y)} rounds; margin of the rows {margin:.3f}, bound {bound:.0f}")
    ax.plot(
        np.arange(n + 1), np.arange(n + 1), linestyle=("-", "--", "-.", ":")[k], linewidth=5 - k, label=name
    )
ax.axhline(bound, color="k", linewidth=0.8)
ax.annotate("$R^2/\\gamma^2$", (1, bound), (0, 4), textcoords="offset points")
ax.set(
    xlabel="rounds",
    ylabel="mistakes",
    title=f"Every prediction is wrong, {bound:.0f} times: the bound is met",
)
ax.legend(loc="lower right")
plt.show()
