"""
Last, average and vote, for kernels of degree 1 and 6
=====================================================

The voted-perceptron paper compared, on handwritten digits, what the last weight vector, the average of all,
and their vote predict, for polynomial kernels of several degrees. Here, too, the average and the vote are
ahead of the last vector by most at degree 1; at degree 6 little is left between the three. One order of the
rows is learned, so that small differences mean nothing. A thousand rows of MNIST are learned; without the
data, the stored figure is shown. ``docs/measured/mnist_voted.png`` has all of MNIST.
"""

import matplotlib.pyplot as plt
import numpy as np
from _stored import stored

from perceptrons import KernelClassifier, datasets, kernels, rules

plt.style.use("tableau-colorblind10")
if datasets.find("mnist") is None:
    stored("plot_last_average_vote", "mnist", "MNIST")
else:
    mnist = datasets.load_mnist()
    X, y = mnist.X[:1000] / 255, mnist.y[:1000]
    X_test, y_test = mnist.X_test[:1000] / 255, mnist.y_test[:1000]
    epochs = (1, 2, 3, 4)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True, layout="constrained")
    for ax, degree in zip(axes, (1, 6), strict=True):
        for readout, style in (("last", "C0o-"), ("average", "C1s--"), ("vote", "C3^:")):
            kernel = kernels.Polynomial(degree=degree)
            model = KernelClassifier(
                rule=rules.Perceptron(), kernel=kernel, readout=readout, multiclass="ovr"
            )
            errors = []
            for epoch in epochs:
                rows = np.random.default_rng(epoch).permutation(len(y))
                model.partial_fit(X[rows], y[rows], classes=range(10))
                errors.append(100 * np.mean(model.predict(X_test) != y_test))
            print(f"degree {degree}, {readout:8}", *(f"{error:6.2f} %" for error in errors))
            ax.plot(epochs, errors, style, label=readout)
        ax.set(xlabel="epochs", xticks=epochs, title=f"degree {degree}")
    axes[0].set_ylabel("test error, %")
    axes[0].legend()
    figure.suptitle(f"{len(y):,} rows of MNIST: the three differ most at degree 1")
plt.show()
