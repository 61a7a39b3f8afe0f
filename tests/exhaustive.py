"""Which tests ``make test`` leaves to ``make test-exhaustive``: whole scripts, real files, many more cases.

What they promise is promised by smaller tests, too, on fewer learners, draws or rows; CI runs both. A test
that costs more than ten CPU-seconds belongs here, unless nothing else would notice a fault. Single cases are
marked ``exhaustive`` where they stand. Two kinds of tests run in both: those that draw their cases, here with
twice as many, and those that are marked ``compiled_later``: what they look at is around the loops, which are
plain Python in ``make test``, and compiled here.
"""

from __future__ import annotations

from hypothesis import settings

#: Paths of modules, with the name of a function where only that one is meant, under ``tests/``.
EXHAUSTIVE = (
    # every learner through the checks of River, and of scikit-learn; make test has one of each family
    "conformance/test_river.py",
    "conformance/test_sklearn.py::test_compiled_loops",
    "conformance/test_sklearn.py::test_of_the_same_family",
    "conformance/test_sklearn.py::test_other_ways",
    "conformance/test_sklearn.py::test_restricted_range_in_a_pipeline",
    "conformance/test_sklearn.py::test_with_more_probabilities",
    "conformance/test_sklearn_linear.py",
    # one leaf after the other of the certificates of every learner; each kind of line is forged elsewhere
    "faults/test_forged_certificates.py::test_forged_leaves_of_every_learner",
    # more of what make test has for one learner, one readout or float64
    "faults/test_bad_input.py::test_a_vector_that_shrinks_keeps_large_weights_in_float32",
    "faults/test_interrupted.py::test_a_cache_that_cannot_be_written",
    "unit/engine/test_boundscheck.py::test_a_suite_runs_with_checks_proved",
    "unit/engine/test_boundscheck.py::test_code_runs_with_checks_proved",
    "unit/engine/test_boundscheck.py::test_planted_faults_are_caught_with_a_cold_and_a_warm_cache",
    "unit/engine/test_device.py::test_as_one_row_at_a_time",
    "unit/estimators/test_kernel_estimators.py::test_the_norm_of_a_long_run_is_that_of_w",
    "unit/proofs/test_certify.py::test_at_most_three_passes",
    # draws without an end, of which make fuzz takes more
    "faults/test_fuzz_targets.py",
    "faults/test_fuzzed_models.py",
    "property/test_readers_fuzz.py",
    # workers in processes of their own, that die and are started again; others have workers in threads
    "faults/test_mixing_cluster.py::test_every_learner",
    "faults/test_mixing_cluster.py::test_a_slow_worker_delays_and_changes_nothing",
    "faults/test_mixing_cluster.py::test_a_worker_is_killed_in_the_middle_of_a_round",
    "faults/test_mixing_cluster.py::test_another_version_on_the_workers",
    "faults/test_mixing_cluster.py::test_a_shard_that_kills_every_worker_is_named",
    "faults/test_mixing_cluster.py::test_no_workers",
    "faults/test_mixing_cluster.py::test_the_scheduler_is_gone",
    # the peak of memory of processes that read much
    "faults/test_reader_memory.py",
    "faults/test_readers.py::test_a_large_bomb_needs_little_memory",
    # all learners again: without a compiler, by a linear kernel, on a device, interrupted, on hard data
    "property/test_certificates_of_hard_data.py",
    "property/test_device_agrees.py",
    "property/test_kernel_features.py",
    "property/test_kernel_linear.py",
    "property/test_kernel_no_interruption.py",
    "property/test_kernel_plain_python.py",
    "property/test_maximum_margin_plain_python.py",
    "property/test_own_rules.py",
    "property/test_plain_python.py",
    "property/test_precision.py",
    "property/test_progressive_errors.py",
    "property/test_readouts.py",
    "property/test_symmetries.py",
    "theorems/test_measured_over_bound.py",
    "unit/engine/test_wide_rows.py::test_every_learner",
    "unit/engine/test_wide_rows.py::test_every_readout",
    # real data, and scripts from beginning to end
    "unit/datasets/test_public_datasets.py::test_the_real_files_have_the_digests",
    "unit/datasets/test_public_datasets.py::test_published_counts",
    "unit/io/test_libsvm.py::test_the_same_as_scikit_learn_on_real_files",
    "unit/repository/test_adult_example.py",
    "unit/repository/test_benchmarks.py",
    "unit/repository/test_example_tasks.py",
    "unit/repository/test_examples.py",
    "unit/repository/test_gallery.py::test_a_picture_and_its_numbers",
    "unit/repository/test_gallery.py::test_with_data",
    "unit/repository/test_reading_benchmark.py",
    "unit/repository/test_sessions.py",
)


def is_exhaustive(path: str, function: str = "") -> bool:
    """Whether a module, or this test function of it, is one of them; the path is relative to ``tests/``."""
    return path in EXHAUSTIVE or f"{path}::{function}" in EXHAUSTIVE


def draws_many() -> bool:
    """Whether tests that draw their cases take all of them, and not the first part alone."""
    return bool(settings.get_current_profile_name() == "exhaustive")
