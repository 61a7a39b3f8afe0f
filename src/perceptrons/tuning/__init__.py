"""Choosing the parameters of a learner: many tried on a part of the rows, the best on more of them."""
