"""Texts with several labels: AROW and its kind for every label, with storage for the columns in use alone.

A column gets a *slot* when it first occurs in a text that changes the model; slot 0 is that of the constant
coordinate. A label gets a number when a text with it is first learned: it is *seen* from then on. Both depend
on nothing but the texts that were learned and their order, so that any cut of them into calls makes the same
model.

Up to some hundred labels a slot has a line with the weights of all labels, and another with their variances
(:class:`LabelLines`). Beyond that a slot has one variance, and a list of the labels with a weight
(:class:`Lists`); a text then changes its own labels and the highest wrong ones only.

Every sum is made in the order of the entries of a text, and every operation is rounded once.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ...rows import factor
from ...rules import State
from ..compiler import by_record, compiled_strictly, confide, dispatch, strict
from .scalars import BAD_SCORE, BAD_STEP, DONE, ERRORS, EXAMPLES, LOSS2, LOWEST, MISTAKES, UPDATES

if TYPE_CHECKING:
    from ..._types import Floats, Ints, Reals, Record
    from ...rows import Csr

#: How a pass can end, besides those of other loops: there is no room for the next text.
ROOM = 4
#: Wrong labels that a text changes at most, where slots have lists.
RIVALS = 5
#: The smallest list.
LEAST = 4
#: Places of the array ``sizes``: slots in use, labels seen, places of the pool in use; and what the next text
#: may take, slots and places.
SLOTS, SEEN, TOP, NEXT_SLOTS, NEXT_PLACES = 0, 1, 2, 3, 4
#: A fresh variance.
START = 1.0


class LabelLines(NamedTuple):
    """A line for each slot."""

    slot_of: np.ndarray  #: int32, by column: its slot, 0 where it has none
    W: np.ndarray  #: (slots, labels): weights
    S: np.ndarray  #: (slots, labels): variances


class Lists(NamedTuple):
    """A list of (label, weight) for each slot, all in one pool; lists that have moved leave theirs free."""

    slot_of: np.ndarray
    S: np.ndarray  #: (slots,): variances
    start: np.ndarray  #: int64, by slot: where its list begins
    length: np.ndarray  #: int32: how many labels it has
    room: np.ndarray  #: int32: how many it has room for
    label: np.ndarray  #: int32: the pool
    weight: np.ndarray
    free: np.ndarray  #: int64, by the logarithm of the room: 1 + the first free place of the pool, 0: none


Table: TypeAlias = LabelLines | Lists


class Room(NamedTuple):
    """Scratch arrays, by label; ``d`` is 0 between two texts."""

    s: np.ndarray  #: scores
    v: np.ndarray  #: x' Sigma x
    sign: np.ndarray  #: +1 for the labels of the text, else -1
    d: np.ndarray  #: steps
    beta: np.ndarray  #: what the variances lose
    chosen: np.ndarray  #: int64: the labels that change
    met: np.ndarray  #: int64: the last slot whose list was found to have the label, + 1


def add_up(table: Table, rows: Csr, i: int, s: Floats) -> None:
    """s[l] = <w_l, x> of the augmented, possibly scaled row, for the labels that s has room for."""
    return dispatch(add_up, table)(table, rows, i, s)


def learn(
    table: Table, rule: Record, rows: Csr, i: int, k: int, sizes: Ints, columns: Ints, room: Room,
    state: Floats, tol: float, limit: float,
) -> int:  # fmt: skip
    """Learn row i, with its signs given, for k labels; how it ended."""
    return dispatch(learn, table)(table, rule, rows, i, k, sizes, columns, room, state, tol, limit)


@strict
def slot_for(slot_of: Ints, columns: Ints, sizes: Ints, j: int) -> int:
    """The slot of column j, which gets one where it has none; there is room for it."""
    slot = slot_of[j]
    if slot == 0:
        slot = sizes[SLOTS]
        slot_of[j] = slot
        columns[slot] = j
        sizes[SLOTS] += 1
    return slot


@strict
def count(state: Floats, s: float, sign: float) -> None:
    """Count the score of one label."""
    m = sign * s
    if (s > 0.0) != (sign > 0.0):
        state[ERRORS] += 1.0
    if m <= 0.0:
        state[MISTAKES] += 1.0
    if m < state[LOWEST]:
        state[LOWEST] = m
    loss = max(0.0, 1.0 - m)
    state[LOSS2] += loss * loss


# ---------------------------------------------------------------------------------------------------- lines


@strict
def add_up_lines(table: LabelLines, rows: Csr, i: int, s: Floats) -> None:
    k = s.shape[0]
    for r in range(k):
        s[r] = 0.0
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        slot = table.slot_of[rows.indices[p]]
        if slot > 0:
            x, w = np.float64(rows.data[p]), table.W[slot]
            for r in range(k):
                s[r] += x * w[r]
    multiple, bias, w = factor(rows, i), np.float64(rows.bias), table.W[0]
    for r in range(k):
        s[r] = multiple * (s[r] + bias * w[r])


@strict
def line_variances(table: LabelLines, rows: Csr, i: int, v: Floats) -> None:
    """v[l] = x' Sigma_l x of the row; a column without a slot has fresh variances."""
    k = v.shape[0]
    for r in range(k):
        v[r] = 0.0
    fresh = 0.0
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        x, slot = np.float64(rows.data[p]), table.slot_of[rows.indices[p]]
        if slot > 0:
            square, sigma = x * x, table.S[slot]
            for r in range(k):
                v[r] += square * sigma[r]
        else:
            fresh += x * x
    multiple, bias, sigma = factor(rows, i), np.float64(rows.bias), table.S[0]
    for r in range(k):
        v[r] = multiple * multiple * (v[r] + START * fresh + bias * bias * sigma[r])


@strict
def move_line(w: Reals, sigma: Reals, d: Floats, beta: Floats, x: float) -> None:
    for r in range(d.shape[0]):
        step = sigma[r] * x
        w[r] = w[r] + d[r] * step
        sigma[r] = sigma[r] - beta[r] * (step * step)


@strict
def learn_lines(
    table: LabelLines, rule: Record, rows: Csr, i: int, k: int, sizes: Ints, columns: Ints, room: Room,
    state: Floats, tol: float, limit: float,
) -> int:  # fmt: skip
    s, v, d, beta = room.s[:k], room.v[:k], room.d[:k], room.beta[:k]
    add_up_lines(table, rows, i, s)
    line_variances(table, rows, i, v)
    multiple, n_steps = factor(rows, i), 0
    for r in range(k):
        if not (isfinite(s[r]) and isfinite(v[r])):
            return BAD_SCORE
    for r in range(k):
        alpha, less = confide(
            rule, room.sign[r] * s[r], v[r], State(0.0, 0, int(state[EXAMPLES]) + 1, 1.0, tol)
        )
        if not alpha * alpha * v[r] <= limit:
            return BAD_STEP
        d[r] = alpha * room.sign[r] * multiple
        beta[r] = less * (multiple * multiple)
        n_steps += alpha != 0.0 or less != 0.0
    for r in range(k):
        count(state, s[r], room.sign[r])
    state[UPDATES] += n_steps
    if n_steps > 0:
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            slot = slot_for(table.slot_of, columns, sizes, rows.indices[p])
            move_line(table.W[slot], table.S[slot], d, beta, np.float64(rows.data[p]))
        if rows.bias != 0.0:
            move_line(table.W[0], table.S[0], d, beta, np.float64(rows.bias))
    return DONE


# ---------------------------------------------------------------------------------------------------- lists


@strict
def add_up_lists(table: Lists, rows: Csr, i: int, s: Floats) -> None:
    for r in range(s.shape[0]):
        s[r] = 0.0
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        slot = table.slot_of[rows.indices[p]]
        if slot > 0:
            add_list(table, slot, np.float64(rows.data[p]), s)
    add_list(table, 0, np.float64(rows.bias), s)
    multiple = factor(rows, i)
    for r in range(s.shape[0]):
        s[r] = multiple * s[r]


@strict
def add_list(table: Lists, slot: int, x: float, s: Floats) -> None:
    first = table.start[slot]
    for q in range(first, first + table.length[slot]):
        s[table.label[q]] += x * table.weight[q]


@strict
def list_variance(table: Lists, rows: Csr, i: int) -> float:
    """x' Sigma x of the row."""
    total = 0.0
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        x, slot = np.float64(rows.data[p]), table.slot_of[rows.indices[p]]
        total += x * x * (np.float64(table.S[slot]) if slot > 0 else START)
    multiple = factor(rows, i)
    return multiple * multiple * (total + rows.bias * rows.bias * np.float64(table.S[0]))


@strict
def choose_rivals(s: Floats, sign: Floats, chosen: Ints, n: int) -> int:
    """Append the wrong labels with the highest scores above -1 to the n chosen ones; how many there are now.

    Of equal scores the label that was seen first is taken.
    """
    first = n
    for r in range(s.shape[0]):
        if sign[r] > 0.0 or s[r] <= -1.0:
            continue
        if n == first + RIVALS:
            if s[r] <= s[chosen[n - 1]]:
                continue
            n -= 1
        at = n
        while at > first and s[chosen[at - 1]] < s[r]:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = r
        n += 1
    return n


@strict
def size_class(n: int) -> int:
    """The logarithm of the smallest power of 2 of at least n, and of LEAST."""
    power, size = 2, LEAST
    while size < n:
        size *= 2
        power += 1
    return power


@strict
def place_for(table: Lists, sizes: Ints, n: int) -> tuple[int, int]:
    """(where a list for n labels can begin, the room that it has there)."""
    power = size_class(n)
    found = table.free[power] - 1
    if found >= 0:
        table.free[power] = table.label[found]
        return found, 1 << power
    found = sizes[TOP]
    sizes[TOP] += 1 << power
    return found, 1 << power


@strict
def make_room(table: Lists, sizes: Ints, slot: int, n: int) -> None:
    """Let the list of a slot have room for n labels."""
    before, length = table.start[slot], table.length[slot]
    room = table.room[slot]
    if room >= n:
        return
    place, size = place_for(table, sizes, n)
    for q in range(length):
        table.label[place + q] = table.label[before + q]
        table.weight[place + q] = table.weight[before + q]
    if room >= LEAST and room & (room - 1) == 0:  # lists of a file have the room that they need
        power = size_class(room)
        table.label[before] = table.free[power]
        table.free[power] = before + 1
    table.start[slot], table.room[slot] = place, size


@strict
def move_list(table: Lists, sizes: Ints, slot: int, n: int, beta: float, x: float, room: Room) -> None:
    """w_l <- w_l + d_l Sigma x for the chosen labels, and Sigma <- Sigma - beta (Sigma x)^2, in one slot."""
    sigma = np.float64(table.S[slot])
    step, first, n_met = sigma * x, table.start[slot], 0
    for q in range(first, first + table.length[slot]):
        r = table.label[q]
        if room.d[r] != 0.0:
            table.weight[q] = table.weight[q] + room.d[r] * step
            room.met[r] = slot + 1
            n_met += 1
    if n_met < n:
        make_room(table, sizes, slot, table.length[slot] + n - n_met)
        for a in range(n):
            r = room.chosen[a]
            if room.met[r] != slot + 1:
                q = table.start[slot] + table.length[slot]
                table.label[q] = r
                table.weight[q] = room.d[r] * step
                table.length[slot] += 1
    table.S[slot] = sigma - beta * (step * step)
    for a in range(n):
        room.met[room.chosen[a]] = 0


@strict
def most_needed(table: Lists, rows: Csr, i: int, n: int) -> int:
    """How many places of the pool a change of n labels may take, at most."""
    total = 2 * (table.length[0] + n) + LEAST
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        slot = table.slot_of[rows.indices[p]]
        total += 2 * ((table.length[slot] if slot > 0 else 0) + n) + LEAST
    return total


@strict
def learn_lists(
    table: Lists, rule: Record, rows: Csr, i: int, k: int, sizes: Ints, columns: Ints, room: Room,
    state: Floats, tol: float, limit: float,
) -> int:  # fmt: skip
    s, sign = room.s[:k], room.sign[:k]
    add_up_lists(table, rows, i, s)
    v, multiple, n = list_variance(table, rows, i), factor(rows, i), 0
    for r in range(k):
        if not (isfinite(s[r]) and isfinite(v)):
            return BAD_SCORE
        if sign[r] > 0.0:
            room.chosen[n] = r
            n += 1
    n = choose_rivals(s, sign, room.chosen, n)
    sizes[NEXT_PLACES] = most_needed(table, rows, i, n)
    if sizes[TOP] + sizes[NEXT_PLACES] > table.label.shape[0]:
        return ROOM
    n_steps, most = 0, 0.0
    for a in range(n):
        r = room.chosen[a]
        alpha, less = confide(rule, sign[r] * s[r], v, State(0.0, 0, int(state[EXAMPLES]) + 1, 1.0, tol))
        if not alpha * alpha * v <= limit:
            for b in range(n_steps):
                room.d[room.chosen[b]] = 0.0
            return BAD_STEP
        d = alpha * sign[r] * multiple
        if d != 0.0:
            room.d[r] = d
            room.chosen[n_steps] = r
            n_steps += 1
            most = max(most, less)
    for r in range(k):
        count(state, s[r], sign[r])
    state[UPDATES] += n_steps
    if n_steps > 0:
        beta = most * (multiple * multiple)
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            slot = slot_for(table.slot_of, columns, sizes, rows.indices[p])
            move_list(table, sizes, slot, n_steps, beta, np.float64(rows.data[p]), room)
        if rows.bias != 0.0:
            move_list(table, sizes, 0, n_steps, beta, np.float64(rows.bias), room)
        for a in range(n_steps):
            room.d[room.chosen[a]] = 0.0
    return DONE


# ---------------------------------------------------------------------- the functions of each kind of table


@by_record(add_up)(LabelLines)
def _add_up_lines(table: LabelLines, rows: Csr, i: int, s: Floats) -> None:
    add_up_lines(table, rows, i, s)


@by_record(add_up)(Lists)
def _add_up_lists(table: Lists, rows: Csr, i: int, s: Floats) -> None:
    add_up_lists(table, rows, i, s)


@by_record(learn)(LabelLines)
def _learn_lines(
    table: LabelLines, rule: Record, rows: Csr, i: int, k: int, sizes: Ints, columns: Ints, room: Room,
    state: Floats, tol: float, limit: float,
) -> int:  # fmt: skip
    return learn_lines(table, rule, rows, i, k, sizes, columns, room, state, tol, limit)


@by_record(learn)(Lists)
def _learn_lists(
    table: Lists, rule: Record, rows: Csr, i: int, k: int, sizes: Ints, columns: Ints, room: Room,
    state: Floats, tol: float, limit: float,
) -> int:  # fmt: skip
    return learn_lists(table, rule, rows, i, k, sizes, columns, room, state, tol, limit)


# ---------------------------------------------------------------------------------------------- passes


@compiled_strictly
def run(
    rule: Record,
    rows: Csr,
    codes: Ints,
    c: Floats,
    order: Ints,
    table: Table,
    columns: Ints,
    sizes: Ints,
    number_of: Ints,
    room: Room,
    state: Floats,
    at: Ints,
    most_labels: int,
    tol: float,
    limit: float,
) -> int:
    """One pass over ``order``, from position ``at[0]`` on, which it moves; how it ended.

    ``codes`` has the labels of each row, and -1 after them; ``number_of`` the number of each label that was
    seen, else -1. Arrays have room for ``most_labels`` numbers.
    """
    while at[0] < order.shape[0]:
        i = order[at[0]]
        if c.shape[0] > 0 and c[i] == 0.0:
            at[0] += 1
            continue
        own, n_new = 0, 0
        while own < codes.shape[1] and codes[i, own] >= 0:
            n_new += number_of[codes[i, own]] < 0
            own += 1
        before = sizes[SEEN]
        sizes[NEXT_SLOTS] = np.int64(rows.indptr[i + 1] - rows.indptr[i])
        if before + n_new > most_labels or sizes[SLOTS] + sizes[NEXT_SLOTS] > columns.shape[0]:
            return ROOM
        for a in range(own):
            if number_of[codes[i, a]] < 0:
                number_of[codes[i, a]] = sizes[SEEN]
                sizes[SEEN] += 1
        k = sizes[SEEN]
        for r in range(k):
            room.sign[r] = -1.0
        for a in range(own):
            room.sign[number_of[codes[i, a]]] = 1.0
        how = learn(table, rule, rows, i, k, sizes, columns, room, state, tol, limit)
        if how != DONE:
            for a in range(own):
                if number_of[codes[i, a]] >= before:
                    number_of[codes[i, a]] = -1
            sizes[SEEN] = before
            return how
        state[EXAMPLES] += 1.0
        at[0] += 1
    return DONE


@compiled_strictly
def scores(table: Table, rows: Csr, out: Floats) -> None:
    """out[i, l] = <w_l, x_i> for the labels that ``out`` has room for."""
    for i in range(out.shape[0]):
        add_up(table, rows, i, out[i])
