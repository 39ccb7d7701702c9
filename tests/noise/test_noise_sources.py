"""No generator that can be seeded or predicted is within reach of the noise."""

import ast
from pathlib import Path

import pytest

import lumberjack_spark.noise

FILES = sorted(Path(lumberjack_spark.noise.__file__).parent.glob("*.py"))


def random_sources(text):
    """Names of generators that a module imports or reaches for."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        elif isinstance(node, ast.Call):
            names = [ast.unparse(node.func)]
        found += [n for n in names if "random" in n.split(".") or n in ("hash", "id", "time.time")]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_noise_reaches_for_no_seeded_generator(file):
    assert random_sources(file.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "import random",
        "from random import gauss",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "np.random.normal()",
        "hash(1)",
    ],
)
def test_the_search_can_find_one(text):
    assert random_sources(text)


def test_only_the_key_uses_the_systems_entropy():
    users = [file.name for file in FILES if "secrets" in file.read_text()]
    assert users == ["key.py"]
