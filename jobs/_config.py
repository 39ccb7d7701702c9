"""The config file that all jobs share: one YAML file, changed from the command line by --set.

Sections   input, label, features, privacy, forest, split, output. `label` and `features` are the
           `DataSchema`; the others are the classes below.
Defaults   there is none for epsilon, delta, bounds, categories and classes. An optional value that
           is left out is None here and means the estimator's own default.
Mistakes   of all sections are named in one SchemaError, unknown keys with the nearest known key,
           before a session is started or any data is read. It is a BudgetError too if nothing but
           the values of epsilon and delta is wrong.
Paths      may hold ${NAME}, the value of an environment variable; it is looked up when the path is
           used, so that a dry run needs no data folder.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lumberjack_spark.defaults import MAX_DEPTH, NUM_TREES
from lumberjack_spark.errors import BudgetError, SchemaError
from lumberjack_spark.schema import DataSchema, SchemaMistakesError
from lumberjack_spark.schema.documents import SCHEMA_SECTIONS
from lumberjack_spark.schema.mistakes import nearest, shown, unknown_key
from lumberjack_spark.schema.yaml_text import parse_yaml, read_yaml

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_Share = Field(default=None, gt=0, lt=1)
_BUDGET_VALUES = ("privacy.epsilon must be ", "privacy.delta must be ")


class BudgetMistakesError(SchemaMistakesError, BudgetError):
    """A config whose only mistakes are the values of its budget."""


class _Section(BaseModel):
    """A section whose keys are all known; numbers are not read out of texts or booleans."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class InputSection(_Section):
    """Where the rows are: exactly one of `path`, `table` and `dataset`.

    Attributes:
        path: file or folder that Spark reads, with `format` and reader `options`.
        table: name of a table of the session's catalog.
        dataset: name of a data set known to `_datasets`, with its `options`.
        format: a format of Spark's reader.
        options: passed to Spark's reader, or to the named data set.
        types: Spark type by column, for formats whose files hold none; types are never inferred
            from content.
        folder: where the files of a named data set are, if not where it looks by itself.
        where: SQL condition on the rows to use, itself public knowledge; it must judge each row
            by itself.
        materialize_dir: folder for a copy that training reads, removed afterwards; for tables that
            may change between reads.
    """

    path: str | None = None
    table: str | None = None
    dataset: str | None = None
    format: str = "parquet"
    options: dict[str, Any] = Field(default_factory=dict)
    types: dict[str, str] = Field(default_factory=dict)
    folder: str | None = None
    where: str | None = None
    materialize_dir: str | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> "InputSection":
        given = [name for name in ("path", "table", "dataset") if getattr(self, name) is not None]
        if len(given) != 1:
            got = " and ".join(given) or "none"
            raise ValueError(f"exactly one of path, table and dataset must be given, got {got}")
        if self.folder is not None and self.dataset is None:
            raise ValueError("folder must be given with dataset only")
        for name, value in self.options.items():
            if not isinstance(value, (str, int, float)):
                raise ValueError(f"options.{name} must be a text, number or boolean")
        if any(name.lower() == "inferschema" and flag for name, flag in self.options.items()):
            raise ValueError("options must not ask for inferSchema: one row would change a type")
        if any(
            name.lower() == "mode" and str(value).upper() == "FAILFAST"
            for name, value in self.options.items()
        ):
            raise ValueError("options must not ask for mode FAILFAST: no row may stop a job")
        if self.path is not None and self.format == "json" and not self.types:
            raise ValueError("types must be given for json, whose reader infers them from content")
        return self

    def resolved_path(self) -> str:
        """`path` with its environment variables; SchemaError if one is not set."""
        return expand(self.path or "", "input.path")

    def resolved_folder(self) -> str | None:
        """`folder` with its environment variables; SchemaError if one is not set."""
        return None if self.folder is None else expand(self.folder, "input.folder")

    def resolved_materialize_dir(self) -> str | None:
        """`materialize_dir` with its environment variables; SchemaError if one is not set."""
        folder = self.materialize_dir
        return None if folder is None else expand(folder, "input.materialize_dir")


class PrivacySection(_Section):
    """The budget, which has no default, and how it is spent."""

    epsilon: float = Field(gt=0)
    delta: float = Field(gt=0, lt=1)
    accountant: Literal["exact", "theorem6"] | None = None
    threshold: Literal["table", "gaussian"] | None = None
    neighbors: Literal["add_remove", "replace_one"] | None = None
    structure_fraction: float | None = _Share
    leaf_share: float | None = _Share
    encoding_share: float | None = Field(default=None, ge=0, lt=1)
    min_exact_count: int | None = Field(default=None, ge=0)


class ForestSection(_Section):
    """Shape of the forest; `seed` varies its public random structure."""

    num_trees: int = Field(default=NUM_TREES, ge=1, le=10_000)
    max_depth: int = Field(default=MAX_DEPTH, ge=1, le=126)
    leaf_mode: Literal["proportions", "majority"] | None = None
    seed: int | None = Field(default=None, ge=0, lt=2**63)


class SplitSection(_Section):
    """Held-out rows, chosen by a hash of a column: `salt` gives another choice."""

    id: str
    test_fraction: float = Field(gt=0, lt=1)
    salt: int = 0


class OutputSection(_Section):
    """Where the model goes."""

    path: str | None = None
    overwrite: bool = False

    def resolved_path(self) -> str:
        """`path` with its environment variables; SchemaError if it is missing or one is not set."""
        if self.path is None:
            raise SchemaError("output.path must be declared: the folder to write to")
        return expand(self.path, "output.path")


class _Sections(_Section):
    """All sections beside the schema's."""

    input: InputSection
    privacy: PrivacySection
    forest: ForestSection = Field(default_factory=ForestSection)
    split: SplitSection | None = None
    output: OutputSection = Field(default_factory=OutputSection)


@dataclass(frozen=True)
class JobConfig:
    """A whole config file, every mistake ruled out."""

    input: InputSection
    schema: DataSchema
    privacy: PrivacySection
    forest: ForestSection
    split: SplitSection | None
    output: OutputSection


_SECTIONS: dict[str, type[_Section]] = {
    "input": InputSection,
    "privacy": PrivacySection,
    "forest": ForestSection,
    "split": SplitSection,
    "output": OutputSection,
}


def load_config(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> JobConfig:
    """Config of a YAML file, changed by `section.key=value` settings.

    Args:
        path: the file.
        overrides: settings like "privacy.epsilon=0.5", applied in order; values are YAML. A column
            whose name holds a dot can be changed in the file only.

    Raises:
        SchemaError: names all mistakes of the file and the settings at once.
    """
    mistakes: list[str] = []
    document = read_yaml(path, mistakes)
    if not isinstance(document, Mapping):
        raise SchemaError(f"{os.fspath(path)!r} must map sections to content")
    document = dict(document)
    for setting in overrides:
        _apply(setting, document, mistakes)
    known = [*_SECTIONS, *SCHEMA_SECTIONS]
    mistakes += [unknown_key("", key, known) for key in document if key not in known]
    sections, schema = _read_sections(document, mistakes), _read_schema(document, mistakes)
    if mistakes and all(map(_is_of_budget, mistakes)):
        raise BudgetMistakesError(mistakes)
    if mistakes or sections is None or schema is None:
        raise SchemaMistakesError(mistakes)
    return JobConfig(
        input=sections.input,
        schema=schema,
        privacy=sections.privacy,
        forest=sections.forest,
        split=sections.split,
        output=sections.output,
    )


def expand(text: str, where: str) -> str:
    """Path with the values of its environment variables and of a leading ~.

    Raises:
        SchemaError: a variable is not set; says how to set it.
    """
    missing = [name for name in _VARIABLE.findall(text) if not os.environ.get(name)]
    if missing:
        name = missing[0]
        raise SchemaError(
            f"{where}: the environment variable {name} must be set for {text!r}: "
            f"export {name}=/folder/that/holds/it"
        )
    return os.path.expanduser(_VARIABLE.sub(lambda found: os.environ[found[1]], text))


def _apply(setting: str, document: dict[Any, Any], mistakes: list[str]) -> None:
    """Apply one `section.key=value` setting; name it when it cannot be."""
    dotted, equals, text = setting.partition("=")
    keys = dotted.strip().split(".")
    if not equals or not all(keys):
        mistakes.append(f"--set must be section.key=value, got {setting!r}")
        return
    try:
        value = parse_yaml(text, mistakes)
    except SchemaError:
        mistakes.append(f"--set {dotted}: the value must be YAML, got {text!r}")
        return
    node = document
    for key in keys[:-1]:
        inner = node.get(key)
        if inner is not None and not isinstance(inner, Mapping):
            mistakes.append(f"--set {dotted}: {key!r} must be a section, it holds {shown(inner)}")
            return
        # Copied, so that a part that YAML repeats by an alias changes in one place only.
        node[key] = dict(inner or {})
        node = node[key]
    node[keys[-1]] = value


def _read_schema(document: Mapping[str, Any], mistakes: list[str]) -> DataSchema | None:
    """Schema of the label and features sections, or None after naming its mistakes."""
    own = {key: document[key] for key in SCHEMA_SECTIONS if document.get(key) is not None}
    try:
        return DataSchema.from_dict(own)
    except SchemaMistakesError as error:
        mistakes += error.mistakes
    return None


def _read_sections(document: Mapping[str, Any], mistakes: list[str]) -> _Sections | None:
    """The other sections, or None after naming their mistakes."""
    own = {key: document[key] for key in _SECTIONS if document.get(key) is not None}
    try:
        return _Sections.model_validate(own)
    except ValidationError as error:
        mistakes += [_mistake(each) for each in error.errors()]
    return None


def _is_of_budget(mistake: str) -> bool:
    """Whether a mistake is a value of epsilon or delta; one that is absent is the config's."""
    return mistake.startswith(_BUDGET_VALUES) and "must be declared" not in mistake


def _mistake(error: Any) -> str:
    """One of pydantic's findings as a line of our own."""
    place = [str(part) for part in error["loc"]]
    where, kind = ".".join(place), error["type"]
    if kind == "extra_forbidden":
        return unknown_key(place[0], place[-1], _SECTIONS[place[0]].model_fields)
    if kind == "missing":
        reason = ": it has no default" if place[0] == "privacy" else ""
        return f"{where} must be declared{reason}"
    if kind == "value_error":
        return f"{where}: {error['ctx']['error']}"
    if kind == "model_type":
        return f"{where} must map keys to values, got {shown(error['input'])}"
    if kind == "literal_error":
        guess = nearest(error["input"], re.findall(r"'(\w+)'", error["ctx"]["expected"]))
        hint = f"; did you mean {guess!r}?" if guess else ""
        return f"{where} must be {error['ctx']['expected']}, got {shown(error['input'])}{hint}"
    rule = error["msg"].removeprefix("Input should be ").removeprefix("a valid ")
    return f"{where} must be {rule}, got {shown(error['input'])}"
