"""
The slab: hard margin, support vectors, and what a perceptron leaves of it
==========================================================================

The maximum-margin hyperplane (hard-margin SVM) is in the middle of the widest slab without a row in it; the
slab is 2/‖w‖ wide, and the rows on its border are the support vectors. A perceptron stops at the first
hyperplane that separates, wherever that is; its slab is what the rows happen to leave.
"""

import matplotlib.pyplot as plt

from perceptrons import MIRA, MaxMargin, Perceptron, datasets, plots

X, y, *_ = datasets.clouds_near()
models = {
    "Perceptron": Perceptron(random_state=1),
    "AMIRA, p = 0.9": MIRA(p=0.9, random_state=1),
    "maximum margin": MaxMargin(),
}

figure, axes = plt.subplots(1, 3, figsize=(15, 5), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    plots.HalfspaceDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    margin = model.decision_function(X) * y
    width = 2 * margin.min() / (model.coef_[0] @ model.coef_[0]) ** 0.5
    ax.set_title(f"{name}: slab of width {width:.2f}")
    print(f"{name:16} width of the slab {width:.3f}")
best = models["maximum margin"]
print(f"slab_width_ {best.slab_width_:.3f} = 2/‖w‖, {best.n_support_} support vectors")
plt.show()
