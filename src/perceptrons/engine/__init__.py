"""Compiled loops, one per space. Nothing here knows labels, estimators or files."""
