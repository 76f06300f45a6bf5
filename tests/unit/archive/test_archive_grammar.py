"""The grammar over call signatures: the helper against its fallback, and the invariants of a grammar."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.codec.grammar import Grammar, Rules, expand
from iotide.archive.codec.grammar_fallback import GrammarFallback
from iotide.archive.native_library import native
from iotide.events import InputError

terminals = st.one_of(
    st.lists(st.integers(0, 3), max_size=80),
    st.builds(
        lambda head, body, times, tail: head + body * times + tail,
        *[st.lists(st.integers(0, 4), max_size=12)] * 2,
        st.integers(0, 12),
        st.lists(st.integers(0, 4), max_size=12),
    ),
    st.builds(
        lambda inner, outer, few, many: (inner * few + outer) * many,
        *[st.lists(st.integers(0, 3), min_size=1, max_size=4)] * 2,
        *[st.integers(1, 8)] * 2,
    ),
)


def grammar_of(given: list[int], cuts: list[int] | None = None) -> Rules:
    grammar = Grammar()
    for part in np.split(np.array(given, np.int32), sorted(cuts or [])):
        grammar.feed(part)
    return grammar.finish()


def bodies(rules: Rules) -> list[list[tuple[int, int]]]:
    symbols = list(zip(rules.values.tolist(), rules.counts.tolist(), strict=True))
    ends = np.cumsum(rules.lengths).tolist()
    return [symbols[end - length : end] for end, length in zip(ends, rules.lengths.tolist(), strict=True)]


def expanded(rules: Rules, length: int) -> npt.NDArray[np.int32]:
    return expand(rules, length, "test")


def test_kernel_was_built() -> None:
    assert native() is not None


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(terminals)
def test_kernel_and_fallback_make_the_same_grammar(given: list[int]) -> None:
    fallback = GrammarFallback()
    fallback.feed(given)
    fallback.close_run()
    assert bodies(grammar_of(given)) == fallback.bodies()


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(terminals)
def test_expansion_is_the_input_and_no_other_length_is_taken(given: list[int]) -> None:
    rules = grammar_of(given)
    assert expanded(rules, len(given)).tolist() == given
    for other in (len(given) - 1, len(given) + 1):
        with pytest.raises((InputError, ValueError)):
            expanded(rules, other)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(terminals, st.lists(st.integers(0, 90), max_size=4))
def test_pieces_of_input_make_no_difference(given: list[int], cuts: list[int]) -> None:
    assert bodies(grammar_of(given, cuts)) == bodies(grammar_of(given))


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(terminals)
def test_no_pair_occurs_twice_and_no_rule_is_used_once(given: list[int]) -> None:
    rules = bodies(grammar_of(given))
    pairs = Counter(pair for body in rules for pair in pairwise(body))
    assert all(count == 1 for count in pairs.values())
    assert all(left[0] != right[0] for left, right in pairs)
    uses = Counter(-1 - value for body in rules for value, _ in body if value < 0)
    repeats = {-1 - value for body in rules for value, count in body if value < 0 and count > 1}
    assert all(uses[rule] > 1 or rule in repeats for rule in range(1, len(rules)))


def test_size_does_not_depend_on_how_often_a_loop_runs() -> None:
    inner = [1, 2, 3, 3, 3]
    sizes = {len(grammar_of([*(inner * 50), 4] * times).values) for times in (10, 100, 2000)}
    assert len(sizes) == 1


def test_fallback_is_used_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.archive.codec.grammar.native", lambda: None)
    rules = grammar_of([1, 2, 1, 2, 1, 2, 5])
    assert expanded(rules, 7).tolist() == [1, 2, 1, 2, 1, 2, 5]


@pytest.mark.parametrize(
    ("lengths", "values", "counts"),
    [
        ([], [], []),
        ([2], [1], [1]),
        ([1], [-2], [1]),
        ([1], [-1], [1]),
        ([1, 1, 1], [-2, -3, -2], [1, 1, 1]),
        ([1], [1], [0]),
        ([1, 1, 1], [-2, -3, 4], [2**40, 2**40, 2]),
        ([2, 0], [1, -2], [100, 2**60]),
    ],
    ids=["nothing", "too short", "no such rule", "in itself", "in a circle", "never", "too long", "an empty rule"],
)
def test_broken_grammar_is_refused(lengths: list[int], values: list[int], counts: list[int]) -> None:
    rules = Rules(np.array(lengths, np.uint32), np.array(values, np.int32), np.array(counts, np.uint64))
    with pytest.raises(InputError, match="grammar is broken"):
        expanded(rules, 100)


def test_rules_within_rules_without_end_are_read_without_recursion() -> None:
    deep = 50_000
    values = np.array([*(-2 - np.arange(deep)), 9], np.int32)
    counts = np.ones(deep + 1, np.uint64)
    counts[0] = 1_000_000  # each of which would expand completely
    rules = Rules(np.ones(deep + 1, np.uint32), values, counts)
    assert expanded(rules, 1_000_000).tolist() == [9] * 1_000_000
