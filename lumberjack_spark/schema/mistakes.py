"""All mistakes of a declaration in one error, and the nearest known name for an unknown one.

A mistake is one line: `<where>: <name> must be <rule>, got <declared value>`. It quotes what was
declared, never what a table holds.
"""

import difflib
from collections.abc import Iterable, Sequence

from lumberjack_spark.errors import SchemaError


class SchemaMistakesError(SchemaError):
    """A SchemaError that keeps its mistakes apart.

    Attributes:
        mistakes: one line each, in the order in which they were found.
    """

    def __init__(self, mistakes: Sequence[str]) -> None:
        super().__init__(tuple(mistakes))
        self.mistakes: tuple[str, ...] = tuple(mistakes)

    def __str__(self) -> str:
        if len(self.mistakes) == 1:
            return self.mistakes[0]
        lines = "".join(f"\n  - {mistake}" for mistake in self.mistakes)
        return f"{len(self.mistakes)} mistakes:{lines}"


def raise_mistakes(mistakes: Sequence[str]) -> None:
    """Raise one error that names all mistakes; do nothing if there are none."""
    if mistakes:
        raise SchemaMistakesError(mistakes)


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or None if nothing is similar.

    >>> nearest("epsilom", ["epsilon", "delta"])
    'epsilon'
    """
    names = list(known)
    folded = {each.casefold(): each for each in reversed(names)}
    close = difflib.get_close_matches(str(name).casefold(), list(folded), n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def unknown_key(where: str, key: object, known: Iterable[str]) -> str:
    """The mistake of a key that nobody reads, with the key that was probably meant."""
    names = list(known)
    guess = nearest(key, names)
    place = f"{where}: " if where else ""
    hint = f"did you mean {guess!r}?" if guess else f"known keys are {', '.join(names)}"
    return f"{place}unknown key {key!r}; {hint}"


def shown(value: object, limit: int = 80) -> str:
    """A declared value for a message, cut when it is long."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
