"""Fuzzing: long runs of arbitrary and nearly right input, with bounds checking on and memory limited.

``make fuzz`` runs every target of this folder, ``make fuzz ARGS="--seconds 60"`` a minute of each, and
``python -m fuzz.read_csv --seed 3 --first 1234 --cases 1`` one case again.
"""
