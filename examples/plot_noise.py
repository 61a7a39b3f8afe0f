"""
Noise: the last vector, the average, and the bound that still holds
===================================================================

Where no hyperplane separates the rows the perceptron never stops, and its last vector swings from epoch to
epoch. The average of all vectors does not. The hinge-loss bound holds on such data, too: mistakes of one pass
against the loss of any other vector u.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import AveragedPerceptron, Perceptron, datasets, proofs, theory

plt.style.use("tableau-colorblind10")
X, y, *_ = datasets.overlapping_clouds(400, random_state=3)
test = datasets.overlapping_clouds(4000, random_state=4)
last, mean = Perceptron(random_state=0), AveragedPerceptron(random_state=0)
curves = {"last vector": [], "average of all vectors": []}
for epoch in range(30):
    rows = np.random.default_rng(epoch).permutation(len(y))
    for model, curve in zip((last, mean), curves.values(), strict=True):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
        curve.append(100 * np.mean(model.predict(test.X) != test.y))

# %%
# One pass over rows with more and more noise, of which the hinge loss H of a comparator u is known.

losses = np.array([0, 10, 20, 40, 80, 160])
made, allowed = [], []
for H in losses:
    data = proofs.noisy(1000, 5, hinge=float(H), margin=0.25, random_state=0)
    made.append(Perceptron(fit_intercept=False, max_iter=1, shuffle=False).fit(data.X, data.y).n_mistakes_)
    allowed.append(theory.hinge_tight(1.0, np.linalg.norm(data.u), float(H)))
    print(f"H = {H:4}: {made[-1]:4} mistakes in one pass, at most {allowed[-1]:5.0f}")
for name, curve in curves.items():
    print(f"{name:24} {np.mean(curve[-20:]):5.2f} ± {np.std(curve[-20:]):.2f} % in the last 20 epochs")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for (name, curve), style in zip(curves.items(), ("o-", "s--"), strict=True):
    left.plot(range(1, 31), curve, style, markersize=3, label=name)
left.axhline(17, color="k", linewidth=0.8)
left.annotate("best rule", (25, 17), (0, -12), textcoords="offset points", fontsize="small")
left.set(xlabel="epochs", ylabel="test error, %", title="The last vector swings, the average does not")
left.legend()
right.plot(losses, made, "o-", label="mistakes of one pass")
right.plot(losses, allowed, "s--", label="hinge-loss bound")
right.set(
    xlabel="hinge loss H of the comparator u",
    ylabel="mistakes",
    title="With noise the bound grows by about 2H",
)
right.legend()
plt.show()
