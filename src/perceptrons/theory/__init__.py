"""What can be proved about a run: the bounds of the theorems, margins and brackets.

Nothing here imports the engine, so that it can judge it.
"""

from . import bounds
from .bounds import *  # noqa: F403
from .brackets import gamma_low, gamma_up, gamma_up_from_weights, radius, sample_margins
from .certificate import Certificate, CertificateError
from .checking import Verification
from .debugging import debug
from .model_margins import Margins, margins
from .run_record import LearnerRecord, RunRecord, UpdateLog
from .separability import Separability

__all__ = [
    *bounds.__all__,
    "Certificate",
    "CertificateError",
    "LearnerRecord",
    "Margins",
    "RunRecord",
    "Separability",
    "UpdateLog",
    "Verification",
    "bounds",
    "debug",
    "gamma_low",
    "gamma_up",
    "gamma_up_from_weights",
    "margins",
    "radius",
    "sample_margins",
]
