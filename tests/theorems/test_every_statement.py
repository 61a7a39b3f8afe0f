"""Each guarantee of the specification and the tests that hold it: none is without, and none of them is gone.

The keys are the lines of the specification's table of verified statements. The tests search for a
counterexample; ``test_measured_over_bound`` keeps the worst measured/bound of each above a floor as well.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from theorems.test_measured_over_bound import STATEMENTS

from perceptrons import theory
from perceptrons.theory import bounds

HERE = Path(__file__).parent

#: line of the table -> tests, as "file: names"
WHERE = {
    "1 k ≤ R²/γ²": "novikoff: at_most_r_over_gamma_squared_mistakes even_against_an_adversary",
    "1 γ* ≤ ‖w‖/k": "novikoff: what_can_be_checked_at_every_moment",
    "1 start w0": "novikoff: from_another_start from_another_start_against_an_adversary",
    "2 passes ≤ ⌊R²/γ²⌋ + 1": "batch_passes: a_clean_pass_comes_in_time",
    "3.2 descent steps": "risk_descent: full_batches small_batches",
    "3.3 single-point steps": "risk_descent: one_row_at_a_time",
    "3.4 (Ση)²/Ση²": "variable_rates: random_sequences worst_sequences steps_given_by_row_weights",
    "3.4 H_k, rate 1/k": "variable_rates: random_sequences worst_sequences",
    "3.4 H_k, rate 1/t in passes": "variable_rates: random_sequences",
    "4 hinge, simple": "hinge_bounds: random_sequences worst_sequences",
    "4 hinge, tight": "hinge_bounds: random_sequences worst_sequences",
    "4 total distance, simple": "hinge_bounds: random_sequences worst_sequences",
    "4 total distance, tight": "hinge_bounds: random_sequences worst_sequences",
    "4 squared": "hinge_bounds: random_sequences worst_sequences",
    "4 lower bound (forced errors)": "lower_bound: every_learner_errs_on_every_row "
    "the_perceptron_meets_it_exactly",
    "5 updates ≤ 2R²/(ε²γ²) − 2/ε": "margin_perceptron: random_sequences worst_sequences",
    "5 the 8/γ² form": "margin_perceptron: random_sequences",
    "5 margin ≥ (1−ε)γ": "margin_perceptron: random_sequences worst_sequences",
    "6.0 elimination, monotone": "elimination: an_or_without_noise attained_without_negations",
    "6.0 elimination, all literals": "elimination: an_or_without_noise attained_with_negations",
    "6.1 Winnow1, α = 2": "winnow: an_or_without_noise worst_sequences",
    "6.1 Winnow1, general form": "winnow: winnow1_with_other_parameters "
    "winnow1_by_the_general_bound_against_an_adversary",
    "6.1 Winnow2, α = 2": "winnow: an_or_without_noise worst_sequences",
    "6.1 Winnow2, constants 8, 5, 14 (OR)": "winnow: winnow2_on_an_or_by_the_general_bound "
    "winnow2_by_the_general_bound_against_an_adversary",
    "6.1 the same, k-of-r": "winnow: winnow2_on_k_of_r winnow2_by_the_general_bound_against_an_adversary",
    "6.2 2X²ln(2n)/γ²": "balanced_winnow: random_sequences worst_sequences",
    "6.2 any η": "balanced_winnow: random_sequences worst_sequences",
    "6.2 non-separable": "balanced_winnow: any_data any_data_against_an_adversary",
    "6.3 p-norm": "pnorm: random_sequences worst_sequences",
    "7 vote ≤ 2E[M]/(m+1), all permutations": "voting: the_vote_errs_at_most_twice_as_often",
    "7 high probability": "voting: the_mean_risk_exceeds_its_bound_no_more_often_than_delta",
    "8.1 updates": "mira: random_sequences worst_sequences",
    "8.1 margin > pγ/2": "mira: random_sequences worst_sequences",
    "8.2 updates, p < γ/2": "mira: the_geometric_test the_geometric_test_against_an_adversary",
    "8.3 PA separable": "pa: hard_and_separable hard_and_separable_against_an_adversary",
    "8.3 PA, unit norm": "pa: hard_on_rows_of_length_one hard_on_rows_of_length_one_against_an_adversary",
    "8.3 PA-I": "pa: pa1 soft_variants_against_an_adversary",
    "8.3 PA-II": "pa: pa2 soft_variants_against_an_adversary",
    "9 updates": "romma: plain against_an_adversary",
    "9 updates, aggressive": "romma: aggressive against_an_adversary",
    "9 growth of ‖w‖² per update": "romma: against_an_adversary",
    "9 ‖w‖ ≤ 1/γ*": "romma: against_an_adversary plain",
    "9 margin ≥ (1−δ)γ*": "romma: aggressive the_bracket_closes",
    "9 errors, aggressive": "romma: aggressive against_an_adversary",
    "10 mistakes ≤ 2R²/δ²": "multiclass: at_most_twice_r_over_delta_squared_mistakes against_an_adversary",
    "10 MIRA_p": "multiclass: mira",
    "10 PA": "multiclass: pa",
    "10 hinge, tight": "multiclass: hinge_bounds_on_any_data hinge_bounds_against_an_adversary",
    "12 upper bound from ROMMA's λ": "romma: against_an_adversary the_bracket_closes",
    "13 γ_aug lower bound": "augmented_space: the_margin_lies_between the_lower_end_is_attained",
    "13 B = √(R|b|)": "augmented_space: the_best_constant random_sequences worst_sequences",
    "14 ALMA updates": "alma: random_sequences worst_sequences",
    "14 ALMA margin": "alma: random_sequences worst_sequences",
    "14 second order": "second_order: separable_rows worst_sequences_of_any_rows",
    "14 AROW": "arow: random_sequences worst_sequences",
    "14 Forgetron": "forgetron: noisy_labels an_adversary_that_flips_now_and_then",
    "14 structured perceptron": "structured: at_most_r_over_delta_squared_mistakes against_an_adversary",
    "2 compression": "compression: the_bound_fails_no_more_often_than_it_says",
}

#: further lines of the summary table, which hold no number to compare with
ALSO = {
    "cycling on data that are not separable": "batch_passes: "
    "data_that_cannot_be_separated_keep_the_weights_in_a_ball",
    "a random hypothesis errs E[M]/(m+1)": "voting: a_random_hypothesis_errs_exactly_that_often",
    "randomised learners": "lower_bound: labels_drawn_by_a_coin_cost_any_learner_half_of_them",
    "rate 1/t has no bound in a stream": "variable_rates: one_over_examples_has_no_bound_in_a_stream",
    "halving search for the margin": "margin_perceptron: an_unknown_margin_is_found_within_a_factor_of_two",
    "halving search for the L1 margin": "balanced_winnow: "
    "halving_the_guess_finds_the_margin_within_a_factor_of_two",
    "norm-minimising MIRA": "multiclass: the_norm_minimising_mira_of_2003",
    "ROMMA with many classes": "romma: many_classes",
    "kernel learners": "kernel_bounds: at_most_r_over_gamma_squared_updates "
    "a_clean_pass_brackets_the_best_margin romma_is_as_short_as_the_best_separator",
    "hard margin": "maximum_margin: conditions_of_the_optimum",
    "Gordan": "gordan: exactly_one_of_the_two",
    "SCW": "scw: conditions_of_an_update",
    "parameter mixing": "parameter_mixing: the_weighted_updates_are_at_most_r_over_gamma_squared",
    "budgets": "kernel_bounds: a_budget_is_kept_and_its_bracket_holds",
}

#: judged by how often they fail, which has no floor
BY_RATE = {"7 high probability", "2 compression"}
#: the sample size is `online_to_batch` solved for m
ELSEWHERE = {"pac_sample_size"}


@pytest.mark.parametrize("line", [*WHERE, *ALSO])
def test_its_tests_are_there(line):
    file, _, names = (WHERE | ALSO)[line].partition(": ")
    tree = ast.parse((HERE / f"test_{file}.py").read_text())
    there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {f"test_{name}" for name in names.split()} <= there


def test_each_line_has_a_floor():
    assert set(STATEMENTS) == set(WHERE) - BY_RATE


def test_each_bound_is_put_to_the_test():
    sources = "\n".join(path.read_text() for path in HERE.glob("*.py"))
    used = set(re.findall(r"theory\.(\w+)", sources))
    functions = {name for name in bounds.__all__ if callable(getattr(theory, name))}
    assert functions - used == ELSEWHERE
