"""The rules of the code's layout, read from its import statements."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "lumberjack_spark"
ORDER = [
    "errors",
    "schema",
    "encoding",
    "privacy",
    "noise",
    "trees",
    "heavy_hitters",
    "training",
    "model",
    "spark",
    "ml",
]
ASIDE = {"defaults": "ml", "audit": "spark"}
"""Parts that nothing but their own kind and those from a place on may import; they follow it."""
FILES = sorted(PACKAGE.rglob("*.py"))
JIT_PACKAGES = {"trees", "privacy", "heavy_hitters", "noise"}


def part_of(file: Path) -> str:
    """Package or top-level module that a file belongs to."""
    relative = file.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py") if len(relative.parts) > 1 else relative.stem


def imported(tree: ast.AST) -> set[str]:
    """Dotted names of all that a file imports."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def imports_of(file: Path) -> set[str]:
    return imported(ast.parse(file.read_text()))


def names_in(file: Path) -> set[str]:
    """Every name and attribute that a file's code mentions."""
    tree = ast.parse(file.read_text())
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def offenders(is_wrong) -> list[str]:
    """Files, as paths, for which is_wrong(file) holds."""
    return [str(file.relative_to(ROOT)) for file in FILES if is_wrong(file)]


def test_the_checks_read_imports():
    tree = ast.parse("import a.b\nfrom c.d import e\ndef f():\n    import g")
    assert imported(tree) == {"a.b", "c.d.e", "g"}
    assert len(FILES) > 50


@pytest.mark.parametrize("part", ORDER)
def test_a_package_imports_only_from_those_before_it(part):
    allowed = {*ORDER[: ORDER.index(part) + 1], *(k for k, v in ASIDE.items() if v == part)}
    for file in FILES:
        if part_of(file) == part:
            parts = {
                name.split(".")[1]
                for name in imports_of(file)
                if name.startswith("lumberjack_spark.")
            }
            assert parts <= allowed, f"{file.relative_to(ROOT)} imports {parts - allowed}"


def test_every_file_belongs_to_a_known_part():
    assert {part_of(file) for file in FILES} <= {*ORDER, *ASIDE, "__init__"}


def test_only_spark_and_ml_import_pyspark():
    def wrong(file):
        uses = any(name.split(".")[0] == "pyspark" for name in imports_of(file))
        return uses and part_of(file) not in {"spark", "ml"}

    assert offenders(wrong) == []


SECRET_SOURCES = {"secrets", "random", "uuid"}


def test_randomness_of_the_operating_system_is_drawn_in_noise_alone():
    def wrong(file):
        modules = {name.split(".")[0] for name in imports_of(file)}
        calls = names_in(file) & {"urandom", "getrandom", "token_bytes", "SystemRandom"}
        return bool(modules & SECRET_SOURCES or calls) and part_of(file) != "noise"

    assert offenders(wrong) == []


def test_numpy_draws_no_random_numbers():
    allowed = {"audit"}  # neighbouring tables made up for the audit, no noise

    def wrong(file):
        text = file.read_text()
        uses = any(".random" in name for name in imports_of(file)) or "np.random" in text
        return uses and part_of(file) not in allowed

    assert offenders(wrong) == []


def test_the_sources_of_noise_import_no_other_randomness():
    for file in FILES:
        if part_of(file) == "noise":
            assert not {name.split(".")[0] for name in imports_of(file)} & {"random", "uuid"}


def test_nothing_that_is_saved_or_loaded_runs_code():
    banned = {"pickle", "cloudpickle", "joblib", "marshal", "shelve", "dill"}

    def wrong(file):
        modules = {name.split(".")[0] for name in imports_of(file)}
        return bool(modules & banned) or bool(names_in(file) & {"eval", "exec", "allow_pickle"})

    assert offenders(wrong) == []


def test_kernels_are_compiled_where_they_belong():
    def wrong(file):
        uses = any(name.split(".")[0] == "numba" for name in imports_of(file))
        return uses and part_of(file) not in JIT_PACKAGES

    assert offenders(wrong) == []


CLASSIC_ONLY = {"sparkContext", "_jvm", "_jsc", "_jdf", "_jsparkSession", "rdd", "broadcast"}
REFUSED = {"persist", "cache", "checkpoint", "localCheckpoint", "randomSplit", "sample"}


def test_what_only_classic_sessions_offer_is_used_in_guarded_files_alone():
    def wrong(file):
        guarded = file.name.startswith("_classic")
        spark = part_of(file) in {"spark", "ml"}
        return spark and not guarded and bool(names_in(file) & CLASSIC_ONLY)

    assert offenders(wrong) == []


def test_nothing_is_sampled_on_spark_and_one_file_alone_asks_for_a_cache():
    def wrong(file):
        return part_of(file) in {"spark", "ml"} and bool(names_in(file) & REFUSED)

    # It does without where a session refuses; see tests/spark/test_cells.py.
    assert offenders(wrong) == ["lumberjack_spark/spark/backend.py"]


LAZY = [
    "lumberjack_spark",
    "lumberjack_spark.schema",
    "lumberjack_spark.privacy",
    "lumberjack_spark.training",
    "lumberjack_spark.model",
]


def test_importing_all_but_spark_and_ml_leaves_pyspark_alone():
    code = (
        f"import importlib, sys\nfor name in {LAZY!r}: importlib.import_module(name)\n"
        "from lumberjack_spark import DataSchema, load_model, find_heavy_hitters\n"
        "assert not [m for m in sys.modules if m.split('.')[0] in ('pyspark', 'py4j')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_importing_ml_starts_no_session():
    code = (
        "import lumberjack_spark.ml\nfrom pyspark import SparkContext\n"
        "from pyspark.sql import SparkSession\n"
        "lumberjack_spark.ml.LumberjackClassifier(numTrees=3)\n"
        "assert SparkContext._active_spark_context is None\n"
        "assert SparkSession.getActiveSession() is None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_public_name_of_the_package_is_found():
    import lumberjack_spark

    for name in lumberjack_spark.__all__:
        assert getattr(lumberjack_spark, name).__name__ == name
    assert set(lumberjack_spark._HOMES) == set(lumberjack_spark.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = lumberjack_spark.nothing


def test_no_file_outgrows_a_reader():
    assert offenders(lambda file: len(file.read_text().splitlines()) > 400) == []
