"""Certificates: what a fit has counted and proved, as plain data that can be checked without the learner.

No learner is imported here: :func:`perceptrons.certify` makes certificates. The modules, from top to bottom:

* ``certificate``: the record; ``as_json``, ``schema``, ``field_kinds``, ``version1``: to JSON and back;
  ``as_text``: printing;
* ``verification``: the checker; ``log_replay``: the log of updates; ``agreement``: when two numbers agree;
* ``parts``: a bound, a bracket, a verdict;
* ``claims``: every line; ``measured``, ``symbols``, ``row_spread``: its two sides; ``facts``: what both are
  computed from;
* ``evidence``: rows, labels and vectors; ``exact_evidence``: the same in fractions; ``bracket_ends``: both
  ends of a bracket; ``digests``: SHA-256 of rows, labels and texts.
"""

from .certificate import Bound, Bracket, Certificate, CertificateError, Verdict
from .verification import Verification

__all__ = ["Bound", "Bracket", "Certificate", "CertificateError", "Verdict", "Verification"]
