"""Models in files: :func:`save` and :func:`load`, :class:`Checkpoint` for long runs, :func:`export_onnx`.

A file is safetensors + JSON + SHA-256. Reading one runs no code, whoever wrote it.
"""

from .checkpoint import Checkpoint
from .errors import ModelError
from .onnx import export_onnx
from .saving import describe, load, save

__all__ = ["Checkpoint", "ModelError", "describe", "export_onnx", "load", "save"]
