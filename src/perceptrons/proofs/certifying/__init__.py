"""``certify``: from a fitted learner and its rows to a certificate.

* ``case``: the function, and all that goes into one certificate, in the order in which it is found;
* ``subject``: the run and its rows; ``history``: its counts and its log; ``vectors``: its w and its average;
* ``solved_comparators``: separators that a solver finds; ``row_weights``: what proves an upper end;
* ``lines``: which bounds a learner has; ``best_bounds``: each for the comparator that serves it best;
* ``verdicts``: brackets and the verdict on separability.
"""

from .case import certify

__all__ = ["certify"]
