r"""Kernels: inner products of feature maps that are never written out.

A kernel is a small immutable record. It takes a collection of objects once (:meth:`Kernel.prepare`) and then
returns matrices of values between collections. Kernels compose: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``,
``Normalized(k)``; all of these stay positive semidefinite.

>>> import numpy as np
>>> from perceptrons.kernels import Linear, Normalized, Polynomial, Spectrum
>>> A = np.array([[1.0, 2.0], [0.0, 1.0]])
>>> Polynomial(degree=2)(A)
array([[36.,  9.],
       [ 9.,  4.]])
>>> bool((Polynomial(degree=1)(A) == 1.0 + Linear()(A)).all())
True
>>> Normalized(Spectrum(p=2))(["banana"], ["ban", "nab"]).round(3)
array([[0.707, 0.471]])

Numbers may come as dense arrays or CSR matrices. Kernels that are functions of inner products also work on
tensors, on whatever device these are.
"""

from __future__ import annotations

# The order is that of the table: names in messages and on the command line follow it.
from .base import TABLE, Declared, Kernel, declare
from .numeric import AllSubsets, Gaussian, InnerProduct, Linear, Polynomial  # isort: split

from .general import Pairwise, Precomputed, Spectrum  # isort: split

from .composed import Composed, Normalized, Product, Scaled, Sum, Wrapped  # isort: split

from .names import NAMES, as_kernel, function_of, register, registered
from .psd import PsdCheck, check_psd

__all__ = [
    "NAMES",
    "TABLE",
    "AllSubsets",
    "Composed",
    "Declared",
    "Gaussian",
    "InnerProduct",
    "Kernel",
    "Linear",
    "Normalized",
    "Pairwise",
    "Polynomial",
    "Precomputed",
    "Product",
    "PsdCheck",
    "Scaled",
    "Spectrum",
    "Sum",
    "Wrapped",
    "as_kernel",
    "check_psd",
    "declare",
    "function_of",
    "register",
    "registered",
]
