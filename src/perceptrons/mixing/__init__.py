"""One model from many shards of the rows: passes over the shards from a common state, mixed after each.

* ``jobs``: what all passes of a fit share; ``states``: what learning changes, as plain arrays;
* ``shards``: rows that can be loaded anywhere; ``shard_epoch``: one pass over one of them, a pure function;
* ``sums``: sums over shards, joined two by two; ``merging``: the state after a round;
* ``rounds``: round after round, by a backend; ``backends``: in this process, one by one or in threads;
* ``given``: what ``fit`` gets; ``sources``: rows that each shard reads for itself, in files and from Dask;
  ``surveys``: labels and width of all of them; ``far``: a fit of such rows; ``brackets``: their margins;
* ``places``: where shards are learned; ``cluster``: on the workers of Dask;
* ``supported``: which learners can be mixed; ``parameter_mixing``: the estimator.
"""
