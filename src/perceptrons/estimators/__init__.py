"""scikit-learn's contract over the learners of the core: the classes that users make."""
