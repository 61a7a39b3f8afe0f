"""Compiled loops: one pass over rows, or one row, in every space; and the state that they keep."""
