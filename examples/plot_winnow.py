"""
Winnow or perceptron? Sparse and dense rows and targets
=======================================================

The perceptron's bound has the length of the rows and of the target in it, Winnow's the largest entry of a row
and the sum of the target's weights, times the logarithm of the number of inputs. So Winnow wins where rows
are dense and few inputs matter, and does not mind irrelevant inputs; the perceptron wins where rows are
sparse and many inputs matter.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron, Winnow, proofs

plt.style.use("tableau-colorblind10")


def mistakes(X, y):
    """(perceptron, Winnow) until a clean pass over the rows, or 50 passes."""
    settings = {"max_iter": 50, "shuffle": False}
    return Perceptron(**settings).fit(X, y).n_mistakes_, Winnow(**settings).fit(X, y).n_mistakes_


# %%
# Four kinds of data, 200 inputs: rows with 4 or 100 ones, "at least one of r" with r = 3 or r = 60.

kinds = {}
for density, rows in ((0.02, "sparse rows"), (0.5, "dense rows")):
    for r, target in ((3, "sparse target"), (60, "dense target")):
        k = 1 if density == 0.02 else max(1, r // 2)
        X, y, *_ = proofs.k_of_r(600, 200, r=r, k=k, density=density, random_state=0)
        kinds[f"{rows},\n{target}"] = mistakes(X, y)

# %%
# A disjunction of 3 inputs among more and more that do not matter.

inputs = [25, 50, 100, 200, 400, 800, 1600]
growth = []
for n in inputs:
    X, y, *_ = proofs.k_of_r(600, n, r=3, k=1, density=0.25, random_state=0)
    growth.append(mistakes(X, y))
for name, (p, w) in kinds.items():
    print(f"{' '.join(name.split()):28} perceptron {p:6,}, Winnow {w:6,} mistakes")
for n, (p, w) in zip(inputs, growth, strict=True):
    print(f"{n:5,} inputs                 perceptron {p:6,}, Winnow {w:6,} mistakes")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
place = np.arange(len(kinds))
both = np.array(list(kinds.values()))
left.bar(place - 0.2, both[:, 0], 0.38, label="perceptron")
left.bar(place + 0.2, both[:, 1], 0.38, label="Winnow", hatch="//", edgecolor="white")
left.set_yscale("log")
left.set_xticks(place, list(kinds), fontsize="small")
left.set(ylabel="mistakes", title="Who makes fewer mistakes depends on the data")
left.legend()
right.plot(inputs, [p for p, _ in growth], "o-", label="perceptron")
right.plot(inputs, [w for _, w in growth], "s--", label="Winnow")
right.set_xscale("log", base=2)
right.set(
    xlabel="inputs, of which 3 matter", ylabel="mistakes", title="Winnow's mistakes grow with the logarithm"
)
right.legend()
plt.show()
