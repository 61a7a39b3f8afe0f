"""The lab: a page on which one sees a perceptron learn, row by row, on runs of the library.

A *scene* is what a page asks for: points, a learner with its parameters, an order. A *run* is the answer:
what :func:`perceptrons.trace` has recorded, with the geometry of the rows. The page draws runs and learns
nothing itself. ``perceptrons lab`` serves it on this machine.
"""
