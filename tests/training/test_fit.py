"""Whole fits in one process."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.schema import RowReader
from lumberjack_spark.training import LocalBackend, ReleasedForest, fit_forest, reading, tasks
from lumberjack_spark.training import fit as fit_module
from lumberjack_spark.training.marginals import release_marginals
from lumberjack_spark.trees import runs, sum_leaf_values
from tests.stats import FALSE_ALARM
from tests.training.tables import (
    KEY,
    OTHER_KEY,
    SCHEMA,
    exact_plan,
    partitions,
    plan_with_marginals,
    random_rows,
    real_plan,
    same_forest,
    splits_by_path,
)

PLANS = {
    "proportions": real_plan,
    "majority": lambda: real_plan(leaf_mode="majority"),
    "marginals": plan_with_marginals,
    "two passes": lambda: real_plan(max_depth=20),
    "two words": lambda: real_plan(max_depth=70),
}


def fit(table, plan, *, key=KEY, seed=11, n=1, batch_rows=10_000):
    backend = LocalBackend(partitions(table, n, batch_rows=batch_rows))
    return fit_forest(backend, SCHEMA, plan, seed=seed, key=key)


def exact_counts(forest, table):
    """Class counts int64[num_leaves, 3] of the rows by the leaves that predict them."""
    (batch,) = table.combine_chunks().to_batches()
    columns = forest.encoder.read(RowReader(SCHEMA), batch)
    offsets = forest.structure.leaf_offsets
    own_tree = np.zeros((offsets[-1], len(offsets) - 1), np.float32)
    for tree, (start, end) in enumerate(pairwise(offsets)):
        own_tree[start:end, tree] = np.arange(start, end)
    leaves = sum_leaf_values(columns, forest.structure, own_tree).astype(np.int64)
    counts = np.zeros((offsets[-1], 3), np.int64)
    for label, row_leaves in zip(RowReader(SCHEMA).labels(batch), leaves, strict=True):
        counts[row_leaves, label] += 1
    return counts


ONE_CLASS = ("maybe",)
TABLES = {
    "zero rows": random_rows(0),
    "one row": random_rows(1),
    "two rows": random_rows(2),
    "one class": random_rows(300, labels=ONE_CLASS),
    "all alike": pa.concat_tables([random_rows(1)] * 300),
    "no declared label": random_rows(50, labels=("never", None)),
}


@pytest.mark.parametrize("rows", TABLES)
@pytest.mark.parametrize("plan", PLANS)
def test_every_table_gives_a_whole_forest(rows, plan):
    plan = PLANS[plan]()
    forest = fit(TABLES[rows], plan, n=3)
    structure = forest.structure
    assert structure.num_trees == plan.num_trees
    assert forest.leaf_counts.shape == (structure.num_leaves, 3)
    assert forest.leaf_counts.dtype == np.int64
    # A tree with n split nodes has n + 1 leaves, and each is referred to once.
    splits = np.bincount([tree for tree, _ in splits_by_path(structure)], minlength=plan.num_trees)
    assert np.diff(structure.leaf_offsets).tolist() == (splits + 1).tolist()
    references = np.concatenate((structure.roots, structure.nodes[:, 2:].ravel()))
    assert sorted(references.tolist()) == list(range(-structure.num_leaves, len(structure.nodes)))


def test_a_table_without_rows_releases_noise_of_its_own_in_each_tree():
    forest = fit(random_rows(0), real_plan(num_trees=40))
    assert forest.structure.num_leaves == 40
    assert len(np.unique(forest.leaf_counts, axis=0)) > 20


@pytest.mark.parametrize("plan", PLANS)
def test_one_key_gives_one_forest_however_rows_are_spread(plan):
    plan, table = PLANS[plan](), random_rows(700)
    forest = fit(table, plan)
    assert len(forest.structure.nodes) > 5
    for n, batch_rows in ((1, 1), (3, 50), (8, 10_000), (8, 7)):
        assert same_forest(forest, fit(table, plan, n=n, batch_rows=batch_rows))


@pytest.mark.parametrize("plan", PLANS)
def test_the_sizes_of_chunks_and_blocks_change_nothing(plan, monkeypatch):
    plan, table = PLANS[plan](), random_rows(700)
    forest = fit(table, plan)
    monkeypatch.setattr(reading, "CHUNK_ROWS", 60)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 200)
    monkeypatch.setattr(tasks, "RUN_RECORDS", 5)
    monkeypatch.setattr(tasks, "RECORDS_A_BATCH", 3)
    monkeypatch.setattr(runs, "_MERGE_RECORDS", 16)
    assert same_forest(forest, fit(table, plan, n=2, batch_rows=100))


@pytest.mark.parametrize("plan", PLANS)
def test_the_order_of_rows_changes_nothing(plan):
    plan, table = PLANS[plan](), random_rows(700)
    assert same_forest(fit(table, plan), fit(table.sort_by("bought"), plan, n=3))


@pytest.mark.parametrize("plan", PLANS)
def test_another_key_gives_another_forest(plan):
    plan, table = PLANS[plan](), random_rows(700)
    ours, theirs = fit(table, plan), fit(table, plan, key=OTHER_KEY)
    assert ours.leaf_counts.tolist() != theirs.leaf_counts.tolist()
    assert splits_by_path(ours.structure).keys() != splits_by_path(theirs.structure).keys()


def common_splits_agree(one, other, least):
    mine, theirs = splits_by_path(one.structure), splits_by_path(other.structure)
    common = mine.keys() & theirs.keys()
    assert len(common) >= least
    return all(mine[node] == theirs[node] for node in common)


def test_two_keys_prune_one_structure():
    plan, table = real_plan(), random_rows(2000)
    forest = fit(table, plan)
    assert common_splits_agree(forest, fit(table, plan, key=OTHER_KEY), least=20)


def test_another_seed_gives_another_structure():
    plan, table = exact_plan(kept_above=20), random_rows(2000)
    mine, theirs = (splits_by_path(fit(table, plan, seed=seed).structure) for seed in (1, 2))
    common = mine.keys() & theirs.keys()
    assert sum(mine[node] == theirs[node] for node in common) < len(common) / 2


@pytest.mark.parametrize("n_rows", [0, 1, 40, 500])
@pytest.mark.parametrize("max_depth", [9, 40])
def test_rows_never_change_the_split_of_a_node(n_rows, max_depth):
    plan = exact_plan(kept_above=0, max_depth=max_depth)
    table, more = random_rows(n_rows), random_rows(1, seed=1)
    forest = fit(table, plan)
    larger = fit(pa.concat_tables([table, more]), plan)
    assert splits_by_path(forest.structure).keys() <= splits_by_path(larger.structure).keys()
    assert common_splits_agree(forest, larger, least=len(forest.structure.nodes))
    # Nor do rows that go elsewhere: a table without any of them has the same splits.
    everything = fit(random_rows(800, seed=9), plan)
    assert common_splits_agree(larger, everything, least=plan.num_trees)


def test_a_row_changes_one_count_of_one_leaf_in_each_tree():
    plan = exact_plan(kept_above=10**6)
    table, more = random_rows(200), random_rows(1, seed=1)
    before, after = fit(table, plan), fit(pa.concat_tables([table, more]), plan)
    change = after.leaf_counts - before.leaf_counts
    assert change.min() == 0
    assert change.sum(axis=1).tolist() == [1] * plan.num_trees


@pytest.mark.parametrize("kept_above", [0, 5, 60, 10**6])
@pytest.mark.parametrize("max_depth", [1, 9, 70])
def test_without_noise_leaf_counts_are_those_of_the_rows_that_predict_there(kept_above, max_depth):
    plan, table = exact_plan(kept_above=kept_above, max_depth=max_depth), random_rows(900)
    forest = fit(table, plan, n=3)
    assert forest.leaf_counts.tolist() == exact_counts(forest, table).tolist()
    assert forest.leaf_counts.sum() == 900 * plan.num_trees


@pytest.mark.parametrize("kept_above", [5, 60])
def test_without_noise_the_split_nodes_are_those_with_enough_rows(kept_above):
    plan, table = exact_plan(kept_above=kept_above), random_rows(900)
    pruned, whole = fit(table, plan), fit(table, exact_plan(kept_above=0))
    kept = splits_by_path(pruned.structure).keys()
    rows = exact_counts(whole, table).sum(axis=1)
    counts = dict.fromkeys(splits_by_path(whole.structure), 0)
    for tree, path, leaf in leaf_paths(whole.structure):
        for length in range(len(path)):
            counts[tree, path[:length]] += rows[leaf]
    assert kept == {node for node, count in counts.items() if count > kept_above}


def leaf_paths(structure):
    """(tree, path, leaf) of every leaf."""
    for tree, root in enumerate(structure.roots.tolist()):
        waiting = [(root, "")]
        while waiting:
            reference, path = waiting.pop()
            if reference < 0:
                yield tree, path, ~reference
            else:
                left, right = structure.nodes[reference, 2:].tolist()
                waiting += [(left, path + "L"), (right, path + "R")]


def test_a_release_has_nothing_but_noisy_counts():
    assert {field.name for field in fields(ReleasedForest)} == {
        "encoder",
        "structure",
        "leaf_counts",
    }
    plan, table = real_plan(num_trees=30), random_rows(2000)
    forest = fit(table, plan, key=NoiseKey.fresh())
    exact = exact_counts(forest, table)
    noise = forest.leaf_counts - exact
    # Every (leaf, class) has noise of its own, empty ones too: zeros are as rare as they should be.
    share_of_zeros = 1 / (plan.leaves.sigma * np.sqrt(2 * np.pi))
    margin = np.sqrt(np.log(2 / FALSE_ALARM) / (2 * noise.size))
    assert abs((noise == 0).mean() - share_of_zeros) < margin
    assert share_of_zeros + margin < 0.5
    empty = exact.sum(axis=1) == 0
    assert (noise[empty] != 0).any()
    # The rows of a tree do not add up to n: trees that knew it would agree.
    totals = np.add.reduceat(forest.leaf_counts.sum(axis=1), forest.structure.leaf_offsets[:-1])
    assert len(np.unique(totals)) > plan.num_trees / 2


def test_two_fits_have_independent_noise():
    plan, table = real_plan(num_trees=200, max_depth=1, min_exact_count=10**6), random_rows(100)
    ours, theirs = (fit(table, plan, key=NoiseKey.fresh()).leaf_counts for _ in range(2))
    exact = np.bincount(RowReader(SCHEMA).labels(table.combine_chunks().to_batches()[0]))
    product = (ours - exact) * (theirs - exact)
    # Seven standard deviations of a mean of 600 products: exceeded with probability below 1e-9.
    assert abs(product.mean()) < 7 * plan.leaves.sigma**2 / np.sqrt(product.size)
    assert np.abs(ours - exact).mean() > 0


@pytest.mark.parametrize("plan", PLANS)
def test_rows_with_an_undeclared_label_are_left_out_everywhere(plan):
    plan, table = PLANS[plan](), random_rows(600)
    others = random_rows(900, seed=3, labels=("never", None, "YES"))
    mixed = pa.concat_tables([others.slice(0, 400), table, others.slice(400)])
    assert same_forest(fit(table, plan), fit(mixed, plan, n=3, batch_rows=100))


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("n", [1, 4])
def test_no_stream_of_noise_is_opened_twice(plan, n):
    class Recorder:
        def __init__(self):
            self.opened = []

        def stream(self, stage, *ids):
            self.opened.append((stage, *ids))
            return KEY.stream(stage, *ids)

    recorder = Recorder()
    fit(random_rows(900), PLANS[plan](), key=recorder, n=n)
    assert len(recorder.opened) >= 10
    assert len(recorder.opened) == len(set(recorder.opened))


def test_majority_leaves_hold_one_vote_each():
    forest = fit(random_rows(600), real_plan(leaf_mode="majority"))
    assert forest.leaf_counts.sum(axis=1).tolist() == [1] * forest.structure.num_leaves
    assert set(forest.leaf_counts.ravel().tolist()) == {0, 1}


def test_a_plan_for_other_marginals_is_refused_before_any_row_is_read():
    class Untouchable:
        def marginals(self, counting):
            raise AssertionError("rows were read")

        nodes = marginals

    plan = real_plan(marginal_share=0.3, histograms=2)
    with pytest.raises(ValueError, match="histograms"):
        fit_forest(Untouchable(), SCHEMA, plan, seed=1, key=KEY)


def test_all_counts_of_marginals_are_released_with_noise_that_the_plan_pays_for(monkeypatch):
    plan, seen = plan_with_marginals(), []

    def released(exact, bins, sigma, key):
        seen.append((bins.what, sigma, sum(bins.repeats)))
        return release_marginals(exact, bins, sigma, key)

    monkeypatch.setattr(fit_module, "release_marginals", released)
    fit(random_rows(600), plan)
    assert [what for what, _, _ in seen] == ["marginals", "pairs"]
    assert {sigma for _, sigma, _ in seen} == {plan.marginals.sigma}
    assert sum(times for _, _, times in seen) == plan.marginals.histograms
