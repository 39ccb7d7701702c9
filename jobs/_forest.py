"""The estimator that a config describes, and its plan in words and as JSON."""

from collections.abc import Mapping
from typing import Any

from jobs._config import JobConfig
from lumberjack_spark.encoding import pair_shape
from lumberjack_spark.ml import LumberjackClassifier
from lumberjack_spark.privacy import GaussianLeaves, NoisePlan
from lumberjack_spark.schema import DataSchema
from lumberjack_spark.training.fit import SINGLE_PASS_DEPTH

_NEIGHBORS = {"add_remove": "one row added or removed", "replace_one": "one row replaced"}


def estimator_of(config: JobConfig) -> LumberjackClassifier:
    """Estimator with the values of a config; what is None there is the estimator's default."""
    privacy, forest = config.privacy, config.forest
    values: dict[str, Any] = {
        "schema": config.schema,
        "epsilon": privacy.epsilon,
        "delta": privacy.delta,
        "accountant": privacy.accountant,
        "threshold": privacy.threshold,
        "neighbors": privacy.neighbors,
        "structureFraction": privacy.structure_fraction,
        "leafShare": privacy.leaf_share,
        "encodingShare": privacy.encoding_share,
        "minExactCount": privacy.min_exact_count,
        "numTrees": forest.num_trees,
        "maxDepth": forest.max_depth,
        "leafMode": forest.leaf_mode,
        "seed": forest.seed,
        "materializeDir": config.input.resolved_materialize_dir(),
    }
    given = {name: value for name, value in values.items() if value is not None}
    return LumberjackClassifier(**given)


def plan_summary(plan: NoisePlan, schema: DataSchema) -> dict[str, Any]:
    """The figures of a plan, JSON-able.

    `sigma` is the noise of Gaussian threshold bits, None where a table made for the purpose is
    used; `gap` is Delta, rows by which the threshold stands above c0 + 1.
    """
    bits, notes = plan.bits, plan.notes
    return {
        "dry_run": True,
        "epsilon": plan.guarantee.epsilon,
        "delta": plan.guarantee.delta,
        "certified_delta": plan.certified_delta,
        "neighbors": plan.guarantee.neighbors,
        "accountant": plan.accountant,
        "trees": plan.num_trees,
        "max_depth": plan.max_depth,
        "questions": plan.questions,
        "c0": bits.minimum_count,
        "sigma": notes.get("sigma"),
        "gap": notes.get("gap", bits.threshold - bits.minimum_count - 1),
        "threshold": bits.threshold,
        "smallest_group": bits.minimum_count + 1,
        "sure_group": plan.certain_count,
        "leaf_mode": plan.leaf_mode,
        "leaf_noise": _leaf_noise(plan),
        "marginal_noise": None if plan.marginals is None else plan.marginals.sigma,
        "passes": passes(plan, schema),
        "plan": plan.to_dict(),
    }


def plan_text(plan: NoisePlan, schema: DataSchema) -> str:
    """A plan for people to read, one statement a line."""
    found = plan_summary(plan, schema)
    each = plan.questions // plan.num_trees
    rows = {
        "guarantee": f"({found['epsilon']:g}, {found['delta']:g})-differential privacy, "
        f"{_NEIGHBORS[found['neighbors']]}",
        "accountant": f"{plan.accountant}: delta is at most {plan.certified_delta:.4g}",
        "forest": f"{plan.num_trees} trees of depth up to {plan.max_depth}, {plan.leaf_mode}",
        "questions": f"m = {plan.questions}: {plan.num_trees} trees x {each} for each row",
        "threshold": f"{found['threshold']} rows: such a node is kept every other time it is "
        "asked about",
        "bit noise": _bit_noise(found),
        "smallest group": f"{found['smallest_group']} rows: nodes of c0 = {found['c0']} rows or "
        "fewer are never kept",
        "sure group": f"{found['sure_group']} rows: a node of so many is kept whenever it is asked "
        "about",
        "leaf noise": _leaf_words(plan),
        "marginals": _marginal_words(plan),
        "passes": f"{found['passes']} over the rows, which Spark keeps as cells if it can",
    }
    return "\n".join(f"  {name:<16}{words}" for name, words in rows.items())


def passes(plan: NoisePlan, schema: DataSchema) -> int:
    """How often a fit goes over the rows: for marginals and pairs if it has any, then for nodes."""
    counting = 1 if plan.max_depth <= SINGLE_PASS_DEPTH else 2
    if plan.marginals is None:
        return counting
    n_pairs, _ = pair_shape(len(schema.features), len(schema.classes))
    return counting + (2 if n_pairs else 1)


def _leaf_noise(plan: NoisePlan) -> float:
    """The parameter of the leaves' mechanism."""
    return plan.leaves.sigma if isinstance(plan.leaves, GaussianLeaves) else plan.leaves.eta


def _bit_noise(found: Mapping[str, Any]) -> str:
    """What makes threshold bits private."""
    if found["sigma"] is None:
        return f"a table of probabilities, Delta = {found['gap']:g} rows"
    return f"Gaussian, sigma = {found['sigma']:.6g}, Delta = {found['gap']:.6g} rows"


def _leaf_words(plan: NoisePlan) -> str:
    """What makes leaves private."""
    if isinstance(plan.leaves, GaussianLeaves):
        return f"discrete Gaussian, sigma = {plan.leaves.sigma:.6g} rows, on every class count"
    return f"one label a leaf, drawn with weight exp({plan.leaves.eta:.6g} x count)"


def _marginal_words(plan: NoisePlan) -> str:
    """What makes the encoder's marginals private."""
    if plan.marginals is None:
        return "none: splits in the declared bounds"
    sigma = plan.marginals.sigma
    return f"discrete Gaussian, sigma = {sigma:.6g} rows, on every count"
