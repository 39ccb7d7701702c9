"""Slow, obvious twins: Algorithm 1 transcribed literally, on dicts of labels 1, 2i, 2i+1."""

from collections.abc import Callable, Collection, Iterator

HEAVY, LIGHT = "Heavy", "Light"


class NaiveMarker:
    """MARKHEAVYHITTERS with one shared table of marks; absent nodes are empty sets of rows.

    nodes is closed upwards: with a node it holds all its ancestors.
    """

    def __init__(self, nodes: Collection[int], height: int, bit: Callable[[int], bool]):
        self.nodes_of_level = [
            sorted(v for v in nodes if level_of(v) == level) for level in range(height)
        ]
        self.bit = bit
        self.marks: dict[int, str] = {}
        self.asked: list[int] = []
        if nodes:
            self.mark_heavy_hitters(1, height)

    def heavy(self) -> set[int]:
        return {node for node, mark in self.marks.items() if mark == HEAVY}

    def nodes_below(self, root: int, levels_down: int) -> list[int]:
        level = level_of(root) + levels_down
        return [node for node in self.nodes_of_level[level] if node >> levels_down == root]

    def mark_heavy_hitters(self, root: int, h: int) -> None:
        middle = h // 2
        for u in self.nodes_below(root, middle):
            if u in self.marks:
                continue
            self.asked.append(u)
            if self.bit(u):
                for ancestor in path_to_root(u):
                    self.marks[ancestor] = HEAVY
            else:
                for level in range(level_of(u), len(self.nodes_of_level)):
                    for descendant in self.nodes_below(u, level - level_of(u)):
                        assert self.marks.get(descendant) != HEAVY
                        self.marks[descendant] = LIGHT
        if h >= 3:
            for v in self.nodes_below(root, middle + 1):
                if self.marks.get(v) != LIGHT:
                    self.mark_heavy_hitters(v, h - middle - 1)
        if h >= 2:
            self.mark_heavy_hitters(root, middle)


def level_of(label: int) -> int:
    return label.bit_length() - 1


def path_to_root(label: int) -> Iterator[int]:
    while label:
        yield label
        label >>= 1


def node_counts(leaves: dict[int, int]) -> dict[int, int]:
    """Rows in each node of a tree, given the rows at the ends of its paths."""
    counts: dict[int, int] = {}
    for leaf, rows in leaves.items():
        for node in path_to_root(leaf):
            counts[node] = counts.get(node, 0) + rows
    return counts
