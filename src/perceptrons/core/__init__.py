"""scikit-learn classes: they validate, encode labels and call the engine."""
