"""A test by a sample whether a function is a kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .base import Kernel
from .names import as_kernel


class PsdCheck(NamedTuple):
    """The result of a test by a sample. It can refute a kernel, never prove one."""

    psd: bool  #: not refuted
    min_eigenvalue: float
    combination: np.ndarray  #: unit c with c'Gc = min_eigenvalue, which refutes the kernel if negative
    asymmetry: float  #: largest :math:`|k(a, b) - k(b, a)|`

    def __bool__(self) -> bool:
        return self.psd


def check_psd(kernel: Any, sample: Any = None) -> PsdCheck:
    r"""Look for a combination of a sample that shows that a function is no kernel.

    A kernel is symmetric, and :math:`c^\top G c = \|\sum_i c_i\varphi(x_i)\|^2 \ge 0` for all c, where
    :math:`G_{ij} = k(x_i, x_j)`. So a negative eigenvalue of G refutes it.

    Parameters
    ----------
    kernel : kernel, function of two objects, or array of shape (n, n)
        What is tried on ``sample``; or a matrix of values, without ``sample``.
    sample : collection of objects, optional

    Returns
    -------
    check : PsdCheck
        The result, the smallest eigenvalue, its vector and the asymmetry. Rounding is allowed for:
        asymmetry up to :math:`10^{-10}\max|G|`, and eigenvalues down to
        :math:`-10^{-10}\max(1, \lambda_{max})\sqrt n`.

    Examples
    --------
    >>> from perceptrons import kernels
    >>> check = kernels.check_psd(lambda a, b: abs(a - b), [0.0, 1.0])
    >>> check.psd, round(check.min_eigenvalue, 12)
    (False, -1.0)
    >>> kernels.check_psd(kernels.Spectrum(p=2), ["banana", "bandana", "nab"]).psd
    True
    """
    if sample is None:
        if isinstance(kernel, (Kernel, str)) or callable(kernel):
            raise TypeError("check_psd tries a kernel on a sample: give one.")
        G = np.asarray(kernel, float)
    else:
        found = as_kernel(kernel).fitted(sample)
        G = np.asarray(found(sample), float)
    if G.ndim != 2 or G.shape[0] != G.shape[1] or not len(G):
        raise ValueError(f"A kernel matrix must be square and not empty; got shape {G.shape}.")
    if not np.isfinite(G).all():
        raise ValueError("The kernel matrix holds values that are not finite.")
    asymmetry = float(np.abs(G - G.T).max())
    values, vectors = np.linalg.eigh((G + G.T) / 2.0)
    slack = 1e-10 * max(1.0, float(values[-1])) * np.sqrt(len(G))
    psd = asymmetry <= 1e-10 * float(np.abs(G).max()) and values[0] >= -slack
    return PsdCheck(bool(psd), float(values[0]), vectors[:, 0], asymmetry)
