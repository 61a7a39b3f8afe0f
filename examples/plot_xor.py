"""
XOR: no hyperplane, a proof of it, and two kernels
==================================================

Exclusive or is the smallest problem that no hyperplane separates. ``separability`` does not only say so: it
finds weights on the rows whose combination is zero, which is a proof. The product of the two features
separates them, and a polynomial kernel of degree 2 has it among its features; a Gaussian kernel does it, too.
"""

import matplotlib.pyplot as plt

from perceptrons import KernelPerceptron, Perceptron, kernels, plots, proofs, separability

X, y, *_ = proofs.xor(40, spread=0.6, random_state=0)
found = separability(X, y)
used = found.weights.nonzero()[0]
print(f"a line: {found.verdict}; weights {found.weights[used].round(3)} on the rows {used}")

models = {
    "Perceptron, 100 epochs": Perceptron(max_iter=100, random_state=0),
    "polynomial kernel, degree 2": KernelPerceptron(kernel=kernels.Polynomial(degree=2), random_state=0),
    "Gaussian kernel": KernelPerceptron(kernel=kernels.Gaussian(gamma=1.0), random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(15, 5), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    wrong = int((model.predict(X) != y).sum())
    print(f"{name:28} {wrong} of {len(y)} rows wrong, {model.n_updates_} updates, {model.stop_reason_}")
    plots.HalfspaceDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    ax.set_title(f"{name}: {wrong} of {len(y)} rows wrong")
plt.show()
