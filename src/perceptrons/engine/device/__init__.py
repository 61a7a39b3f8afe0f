"""Blocks of kernel values on a GPU, or on any other device of torch. Needs numpy and torch only."""
