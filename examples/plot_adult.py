"""
Adult step by step: what preprocessing does to R and to the error
=================================================================

The homework of the lecture: predict from census data whether a person earns more than 50,000 dollars. Each
step changes the length of the longest row, the mistakes of the first pass, and the test error of the last
vector and of the average. ``examples/adult.py`` has the whole table, the bounds, and other learners. Without
the data, the stored figure is shown.
"""

import matplotlib.pyplot as plt
import numpy as np
from _stored import stored
from adult import STEPS, prepared

from perceptrons import AveragedPerceptron, Perceptron, datasets

plt.style.use("tableau-colorblind10")
if datasets.find("adult") is None:
    stored("plot_adult", "adult", "Adult")
else:
    adult = datasets.load_adult()
    shown = [
        "six numbers as they are",
        "+ buckets, education a level",
        "+ names to 0/1 columns",
        "+ centre",
        "+ unit variance",
    ]
    radius, last, mean = [], [], []
    for name in shown:
        rows = prepared(STEPS[name][0], adult)
        settings = {"shuffle": False, "max_iter": 3}
        for kind, errors in ((Perceptron, last), (AveragedPerceptron, mean)):
            model = kind(**settings).fit(rows.X, rows.y)
            errors.append(100 * np.mean(model.predict(rows.X_test) != rows.y_test))
        radius.append(model.radius_)
        print(
            f"{name:29} R {radius[-1]:11.4g}   test error: last {last[-1]:5.2f} %, average {mean[-1]:5.2f} %"
        )

    figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 6.5), sharex=True, layout="constrained")
    place = np.arange(len(shown))
    top.semilogy(place, radius, "o-")
    top.set(ylabel="R, the longest row", title="Buckets take nearly all of R away; names bring the accuracy")
    bottom.plot(place, last, "o-", label="last vector")
    bottom.plot(place, mean, "s--", label="average")
    bottom.axhline(100 * adult.y_test.mean(), color="k", linewidth=0.8)
    bottom.annotate(
        "no to all", (0.1, 100 * adult.y_test.mean()), (0, -11), textcoords="offset points", fontsize="small"
    )
    bottom.set_ylabel("test error, %")
    bottom.set_xticks(
        place, [name.replace(", ", ",\n").replace(" as ", "\nas ") for name in shown], fontsize="small"
    )
    bottom.legend()
plt.show()
