"""Boosted decision trees, read from the text that `bench/request_training.py` writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from ..model.types import Value

Tree: TypeAlias = "float | tuple[int, float, Tree, Tree]"


class Trees(Value, frozen=True, kw_only=True):
    """A sum of trees. Above 0 a prompt is new; down to `-doubt` it may be.

    `text` has one tree in each line, written in front: a leaf is its value, a fork "feature<limit" with the
    tree for at most the limit and the one for more after it. Features are numbered as in `names`.
    """

    bias: float
    doubt: float
    names: tuple[str, ...]
    text: str

    def score(self, found: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """The score of these features, and what each added; a leaf counts equally for all on its path."""
        values = [found[name] for name in self.names]
        shares = dict.fromkeys(self.names, 0.0)
        total = self.bias
        for tree in _parsed(self.text):
            path: list[int] = []
            while isinstance(tree, tuple):
                path.append(tree[0])
                tree = tree[2] if values[tree[0]] <= tree[1] else tree[3]
            total += tree
            for at in path:
                shares[self.names[at]] += tree / len(path)
        return total, shares


@lru_cache
def _parsed(text: str) -> tuple[Tree, ...]:
    return tuple(_tree(iter(line.split())) for line in text.splitlines())


def _tree(parts: Iterator[str]) -> Tree:
    first, fork, limit = next(parts).partition("<")
    return (int(first), float(limit), _tree(parts), _tree(parts)) if fork else float(first)
