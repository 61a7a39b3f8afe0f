"""A marimo notebook that shows the widget twice, once with rows of its own."""

import marimo

app = marimo.App()


@app.cell
def _():
    from perceptrons import PassiveAggressive, datasets, plots

    X, y, *_ = datasets.clouds_near()
    plots.lab(X, y, PassiveAggressive(C=0.5))
    return


if __name__ == "__main__":
    app.run()
