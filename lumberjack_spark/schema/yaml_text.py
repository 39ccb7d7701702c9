"""YAML as people expect it: the core schema of YAML 1.2, and no key twice.

PyYAML follows YAML 1.1, where `no` is false, `1e-6` is text, `1:30` is 90 and `010` is 8. In a list
of classes or countries these readings are traps, so only true/false, null, decimal integers and
usual floats are special here; everything else is text. Keys that stand twice are mistakes: PyYAML
would drop the first, so that a column could be numeric and categorical without a word.
"""

import os
import re
from typing import Any

import yaml

from lumberjack_spark.errors import SchemaError

_RESOLVERS: list[tuple[str, str, str]] = [
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|(?=[0-9.]+[eE])[0-9]*\.?[0-9]*)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
]


class _CoreLoader(yaml.SafeLoader):
    """SafeLoader with the scalars above; notes keys that stand twice."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.repeated: list[str] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A dict in the order of the file."""
        found: dict[Any, Any] = super().construct_mapping(node, deep=True)
        if len(found) < len(node.value):
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if key in seen:
                    line = key_node.start_mark.line + 1
                    self.repeated.append(f"line {line}: key {key!r} must stand once")
                seen.add(key)
        return found


class _CoreDumper(yaml.SafeDumper):
    """SafeDumper that quotes what either version of YAML would not read as text."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values out."""
        return True


def _represent_text(dumper: _CoreDumper, text: str) -> yaml.ScalarNode:
    """Text with escapes where it holds line breaks and other characters without a glyph."""
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_CoreDumper.add_representer(str, _represent_text)
_CoreLoader.yaml_implicit_resolvers = {}
for _name, _pattern, _first in _RESOLVERS:
    for _class in (_CoreLoader, _CoreDumper):
        _class.add_implicit_resolver(
            f"tag:yaml.org,2002:{_name}",
            re.compile(rf"^(?:{_pattern})$"),
            [*_first, ""] if _name == "null" else list(_first),
        )


def parse_yaml(text: str, mistakes: list[str]) -> Any:
    """Plain values of YAML text; keys that stand twice are added to `mistakes`.

    Raises:
        SchemaError: the text is not YAML.

    >>> parse_yaml("{no: 1e-6, zip: 010}", [])
    {'no': 1e-06, 'zip': '010'}
    """
    loader = _CoreLoader(text)
    try:
        found = loader.get_single_data()
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise SchemaError(f"the text must be YAML: {error}") from error
    finally:
        loader.dispose()
    mistakes += loader.repeated
    return found


def read_yaml(source: str | os.PathLike[str], mistakes: list[str]) -> Any:
    """Plain values of a YAML file, or of text if `source` is a string with a line break.

    Raises:
        SchemaError: the file cannot be read or is not YAML.
    """
    if isinstance(source, str) and "\n" in source:
        return parse_yaml(source, mistakes)
    try:
        with open(source, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"cannot read {os.fspath(source)!r}: {error}") from error
    return parse_yaml(text, mistakes)


def yaml_text(document: Any) -> str:
    """YAML text that `parse_yaml` reads back to equal values, order kept."""
    text: str = yaml.dump(
        document, Dumper=_CoreDumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text
