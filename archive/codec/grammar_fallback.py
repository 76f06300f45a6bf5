"""``native/grammar.c`` in Python: the same grammar for the same input, about a hundred times slower.

Tests compare the helper with it; it is used where the helper could not be built.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Run = tuple[int, int]
"""A symbol and its count: terminal t is t, rule r is -1 - r."""

_DEEPEST = 64


@dataclass(slots=True, eq=False)
class _Node:
    value: int = 0
    count: int = 0
    rule: _Rule | None = None
    """For a guard: its rule."""
    prev: _Node = field(init=False, repr=False)
    next: _Node = field(init=False, repr=False)


class _Rule:
    """A circular list of nodes through a guard."""

    __slots__ = ("alive", "guard", "number", "uses")

    def __init__(self, number: int) -> None:
        self.number = number
        self.uses = 0
        self.alive = True
        self.guard = _Node(rule=self)
        self.guard.prev = self.guard.next = self.guard


@dataclass(slots=True)
class _Place:
    node: _Node
    left: int
    """Remaining passes through the node's body, including the current one."""


class _Cursor:
    """A position in the expansion of a rule; yields its runs of terminals."""

    def __init__(self, grammar: GrammarFallback, rule: _Rule) -> None:
        self._rules = grammar.rules
        self._places = [_Place(rule.guard.next, 1)]
        self.matched = 0
        self.next = self._step()

    def advance(self) -> None:
        self.next = self._step()

    @property
    def at_end(self) -> bool:
        return not self._places

    def _step(self) -> Run | None:
        places = self._places
        while places:
            place = places[-1]
            node = place.node
            if node.rule is not None:  # end of a body: repeat it, or continue after the symbol that refers to it
                if place.left > 1:
                    place.node, place.left = node.next, place.left - 1
                    continue
                places.pop()
                if places:
                    places[-1].node = places[-1].node.next
                continue
            if node.value >= 0:
                place.node = node.next
                return node.value, node.count
            if len(places) == _DEEPEST:
                return None
            places.append(_Place(self._rules[-1 - node.value].guard.next, node.count))
        return None


class GrammarFallback:
    """Sequitur with run lengths; see ``grammar.Grammar``."""

    def __init__(self) -> None:
        self.rules: dict[int, _Rule] = {}
        self._free: list[int] = []
        self._digrams: dict[tuple[int, int, int, int], _Node] = {}
        self._open: Run | None = None
        self._cursor: _Cursor | None = None
        self._repeating = False
        self._start = self._new_rule()

    def feed(self, terminals: Iterable[int]) -> None:
        """Append terminals."""
        for terminal in terminals:
            if self._open is not None and self._open[0] == terminal:
                self._open = terminal, self._open[1] + 1
                continue
            if self._open is not None:
                self._take(self._open)
            self._open = terminal, 1

    def close_run(self) -> None:
        """End the run at the end of the input."""
        if self._open is not None:
            self._take(self._open)
            self._open = None
        if self._cursor is not None:
            self._give_up()

    def bodies(self) -> list[list[Run]]:
        """Return the rules, numbered in the order of their first use from rule 0."""
        numbers = {self._start.number: 0}
        order = [self._start]
        bodies: list[list[Run]] = []
        for rule in order:
            body: list[Run] = []
            node = rule.guard.next
            while node.rule is None:
                value = node.value
                if value < 0:
                    used = self.rules[-1 - value]
                    if used.number not in numbers:
                        numbers[used.number] = len(order)
                        order.append(used)
                    value = -1 - numbers[used.number]
                body.append((value, node.count))
                node = node.next
            bodies.append(body)
        return bodies

    # ---- nodes and rules ----

    def _new_node(self, value: int, count: int) -> _Node:
        if value < 0:
            self.rules[-1 - value].uses += 1
        return _Node(value, count)

    def _drop(self, node: _Node) -> None:
        if node.value < 0:
            self.rules[-1 - node.value].uses -= 1

    def _new_rule(self) -> _Rule:
        rule = _Rule(self._free.pop() if self._free else len(self.rules))
        self.rules[rule.number] = rule
        return rule

    # ---- digrams ----

    @staticmethod
    def _key(node: _Node) -> tuple[int, int, int, int]:
        return node.value, node.count, node.next.value, node.next.count

    def _leave(self, node: _Node) -> None:
        if node.rule is None and node.next.rule is None and self._digrams.get(key := self._key(node)) is node:
            del self._digrams[key]

    def _check(self, node: _Node) -> bool:
        following = node.next
        if node.rule is not None or following.rule is not None:
            return False
        if node.value == following.value:
            self._merge(node)
            return True
        found = self._digrams.setdefault(self._key(node), node)
        if found is node:
            return False
        self._match(node, found)
        return True

    def _merge(self, node: _Node) -> None:
        prev, following = node.prev, node.next
        for each in (prev, following, node):
            self._leave(each)
        node.count += following.count
        _link(node, following.next)
        self._drop(following)
        right = node.next
        if not self._check(prev) and right.prev is node:
            self._check(node)

    def _substitute(self, node: _Node, rule: _Rule) -> None:
        second, prev = node.next, node.prev
        following = second.next
        for each in (prev, node, second):
            self._leave(each)
        self._drop(node)
        self._drop(second)
        made = self._new_node(-1 - rule.number, 1)
        _link(prev, made)
        _link(made, following)
        if not self._check(prev) and following.prev is made:
            self._check(made)

    def _inline(self, node: _Node) -> None:
        rule = self.rules[-1 - node.value]
        prev, following = node.prev, node.next
        first, last = rule.guard.next, rule.guard.prev
        self._leave(prev)
        self._leave(node)
        self._drop(node)
        rule.alive = False
        self._free.append(rule.number)
        _link(prev, first)
        _link(last, following)
        self._check(prev)
        if following.prev is last:
            self._check(last)

    def _is_used_once(self, node: _Node) -> bool:
        return node.rule is None and node.value < 0 and node.count == 1 and self.rules[-1 - node.value].uses == 1

    def _match(self, node: _Node, found: _Node) -> None:
        left = found.prev.rule
        if left is not None and left is not self._start and found.next.next.rule is not None:
            rule = left
            self._substitute(node, rule)
        else:
            rule = self._new_rule()
            first = self._new_node(node.value, node.count)
            second = self._new_node(node.next.value, node.next.count)
            _link(rule.guard, first)
            _link(first, second)
            _link(second, rule.guard)
            self._substitute(found, rule)
            self._digrams.setdefault(self._key(first), first)
            self._substitute(node, rule)
        for at_end in (False, True):
            tidied = self.rules[rule.number]  # the rule that has the number now
            if not tidied.alive:
                return
            end = tidied.guard.prev if at_end else tidied.guard.next
            if self._is_used_once(end):
                self._inline(end)

    # ---- the input ----

    def _push(self, run: Run) -> None:
        guard = self._start.guard
        last, made = guard.prev, self._new_node(*run)
        _link(last, made)
        _link(made, guard)
        self._check(last)

    def _expect(self) -> None:
        tail = self._start.guard.prev
        self._repeating = False
        self._cursor = None
        if tail.rule is None and tail.value < 0:
            cursor = _Cursor(self, self.rules[-1 - tail.value])
            self._cursor = cursor if cursor.next is not None else None

    def _give_up(self) -> None:
        tail = self._start.guard.prev
        matched = self._cursor.matched if self._cursor is not None else 0
        cursor = _Cursor(self, self.rules[-1 - tail.value])
        runs: list[Run] = []
        for _ in range(matched):
            assert cursor.next is not None  # noqa: S101
            runs.append(cursor.next)
            cursor.advance()
        self._cursor = None
        if self._repeating:
            self._repeating = False
            self._check(tail.prev)
        for run in runs:
            self._push(run)

    def _take(self, run: Run) -> None:
        cursor = self._cursor
        if cursor is not None:
            if cursor.next == run:
                cursor.matched += 1
                cursor.advance()
                if cursor.next is None and cursor.at_end:
                    tail = self._start.guard.prev
                    if not self._repeating:
                        self._leave(tail.prev)
                    self._repeating = True
                    tail.count += 1
                    self._cursor = _Cursor(self, self.rules[-1 - tail.value])
                elif cursor.next is None:
                    self._give_up()
                    self._expect()
                return
            self._give_up()
        self._push(run)
        self._expect()


def _link(left: _Node, right: _Node) -> None:
    left.next, right.prev = right, left
