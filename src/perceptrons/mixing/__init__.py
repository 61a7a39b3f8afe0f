"""One model from many shards of the rows: passes over the shards from a common state, mixed after each.

* ``jobs``: what all passes of a fit share; ``states``: what learning changes, as plain arrays;
* ``shards``: rows that can be loaded anywhere; ``shard_epoch``: one pass over one of them, a pure function;
* ``sums``: sums over shards, joined two by two; ``merging``: the state after a round;
* ``rounds``: round after round, by a backend; ``backends``: in this process, one by one or in threads;
* ``supported``: which learners can be mixed; ``parameter_mixing``: the estimator.
"""
