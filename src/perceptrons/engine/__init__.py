"""Compiled loops, one per space. Nothing here depends on labels, estimators or files."""
