"""Hypothesis draws the same examples every time, so that a failure can be repeated and a pass is not luck.

`pytest --hypothesis-profile=search` draws new ones, and more of them.
"""

from hypothesis import settings

# no deadline: the first call of a learner may compile it
settings.register_profile("steady", deadline=None, derandomize=True, database=None, max_examples=25)
settings.register_profile("search", deadline=None, max_examples=400, print_blob=True)
settings.load_profile("steady")
