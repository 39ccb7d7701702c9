"""What a fit promises, on paper: the guarantee, every mechanism, and what was taken as public.

Content    declarations and parameters only. No count, host, path or duration; the date is a day.
Units      epsilon in nats; sigma in rows.
"""

import datetime
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from lumberjack_spark.privacy import NoisePlan
from lumberjack_spark.schema import DataSchema

PROOF = "lumberjack_spark/privacy/PROOF.md"

_THEOREMS = {
    "exact": f"the bits and the leaf noise together, as an adaptive game; theorem in {PROOF}",
    "theorem6": "Theorem 6 of the paper for the trees, Lemma 9 (zCDP) for the leaves, joined by "
    f"basic composition; see {PROOF}",
}

ROW_RULES = (
    "numbers outside their declared bounds move to the nearer bound",
    "values that were not declared become the value 'other'",
    "missing values follow the declared rule of their feature",
    "rows whose label is missing or not declared are left out",
)

STANDING_NOTES = (
    "The guarantee covers the table given to fit, once. Releases from the same rows add up.",
    "Stages fitted on the same rows before this one (indexers, imputers, scalers) are not covered.",
    "Metrics on held-out rows, and choices made by them, are not covered.",
)


def make_certificate(
    *,
    plan: NoisePlan,
    seed: int,
    private_key: bool,
    searched: bool = False,
    warnings: Iterable[str] = (),
) -> dict[str, Any]:
    """Certificate of a fit, without its schema; JSON-able.

    Args:
        plan: the noise that was used.
        seed: structure seed; public.
        private_key: whether the noise came from the operating system and nobody knows it.
        searched: whether the fit is the choice of a search by exact metrics of held-out rows,
            which no guarantee covers.
        warnings: what the guarantee does not cover in this fit.
    """
    guarantee = plan.guarantee.to_dict()
    return {
        "private": private_key and not searched,
        "unit": f"one {guarantee['unit']} of the table",
        "neighbors": guarantee["neighbors"],
        "epsilon": guarantee["epsilon"],
        "delta": guarantee["delta"],
        "certified_delta": plan.certified_delta,
        "accountant": plan.accountant,
        "theorem": _THEOREMS.get(plan.accountant, f"see {PROOF}"),
        "mechanisms": _mechanisms(plan),
        "plan": plan.to_dict(),
        "declared_public": {
            "num_trees": plan.num_trees,
            "max_depth": plan.max_depth,
            "leaf_mode": plan.leaf_mode,
            "seed": seed,
        },
        "row_rules": list(ROW_RULES),
        "notes": list(STANDING_NOTES),
        "warnings": list(warnings),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "package": f"lumberjack-spark {package_version()}",
    }


def with_schema(certificate: Mapping[str, Any], schema: DataSchema) -> dict[str, Any]:
    """The certificate with all that was declared public, the schema too."""
    public = dict(certificate.get("declared_public", {})) | {"schema": schema.to_dict()}
    return dict(certificate) | {"declared_public": public}


def certificate_text(certificate: Mapping[str, Any]) -> str:
    """A certificate for people to read, one statement a line."""
    got = certificate
    lines = [] if got.get("private") else ["NOT PRIVATE: see the warnings below."]
    lines += [
        f"Release of {got['package']}, {got['date']}",
        f"Guarantee: ({got['epsilon']:g}, {got['delta']:g})-differential privacy for "
        f"{got['unit']}, neighbours: {_NEIGHBORS.get(got['neighbors'], got['neighbors'])}",
        f"Accountant: {got['accountant']}: {got['theorem']}",
    ]
    for mechanism in got["mechanisms"]:
        values = ", ".join(f"{k}={_short(v)}" for k, v in mechanism.items() if k != "what")
        lines.append(f"Mechanism: {mechanism['what']}: {values}")
    public = got["declared_public"]
    lines.append("Public: " + ", ".join(f"{k}={v}" for k, v in public.items() if k != "schema"))
    if "schema" in public:
        lines += _schema_lines(public["schema"])
    for title in ("row_rules", "notes", "warnings"):
        word = title.replace("_", " ").rstrip("s").capitalize()
        lines += [f"{word}: {line}" for line in got.get(title, ())]
    return "\n".join(lines)


def package_version() -> str:
    """Version of this package; "unknown" when it runs from files that were not installed."""
    try:
        return metadata.version("lumberjack-spark")
    except metadata.PackageNotFoundError:
        return "unknown"


_NEIGHBORS = {
    "add_remove": "one row added or removed",
    "replace_one": "one row replaced by another",
}


def _mechanisms(plan: NoisePlan) -> list[dict[str, Any]]:
    """Every mechanism that touches rows, in the order of a fit."""
    found: list[dict[str, Any]] = []
    if plan.marginals is not None:
        found.append(
            {
                "what": "counts by class of the values of features, single and in pairs",
                **plan.marginals.to_dict(),
            }
        )
    found.append(
        {
            "what": "one threshold bit for each node that the heavy-hitters search asks about",
            "mechanism": "randomised threshold",
            "questions": plan.questions,
            **plan.bits.to_dict(),
        }
    )
    what = "class counts of leaves" if plan.leaf_mode == "proportions" else "one label for a leaf"
    found.append({"what": what, **plan.leaves.to_dict()})
    return found


def _schema_lines(schema: Mapping[str, Any]) -> list[str]:
    """Declared classes and features, long lists cut."""
    label = schema["label"]
    lines = [f"Public: classes of {label['column']!r}: {_short(label['classes'])}"]
    lines += [
        f"Public: feature {name!r}: {_short(declared)}"
        for name, declared in schema["features"].items()
    ]
    return lines


def _short(value: Any, limit: int = 200) -> str:
    """A value in one line, cut when it is long."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
