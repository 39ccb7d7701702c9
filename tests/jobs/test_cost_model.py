"""The cost model finds costs that are known, and says so when it is off."""

import json
from dataclasses import replace

import numpy as np
import pytest

from jobs import cost_model
from jobs._bench_report import OURS
from jobs._cost_terms import CostModel, Shape


def known_run(rows, trees, depth, *, repeat=1, slow=1.0):
    """A run whose costs are known: 2 s, 0.1 us a value, 50 ns a code, 1 ns a level, 3 us a node."""
    nodes = 4.0 * rows * trees / 200
    shape = Shape(rows, trees, depth, 10, 2, 200, nodes)
    driver = 0.5 + 3e-6 * nodes
    mapped = 1.0 + 1e-7 * rows * 10 + 1e-9 * rows * trees * shape.levels_to_middle
    reduced = 0.5 + 5e-8 * rows * trees
    cpu = slow * (mapped + reduced + driver)
    return {
        "system": OURS, "step": "fit", "repeat": repeat, "rows": rows, "trees": trees,
        "depth": depth, "columns": 10, "classes": 2, "threshold": 200, "nodes": nodes,
        "cpu_total_s": cpu, "cpu_s": {"driver": driver}, "map_task_s": mapped,
        "reduce_task_s": reduced, "shuffle_bytes": 8 * rows * trees,
        "result_bytes": 1000 + 0.5 * nodes * shape.record_bytes,
        "peak_bytes": {"driver_above_idle": 5e7 + 2 * nodes * shape.record_bytes},
        "wall_s": slow * (0.25 + mapped / 2 + reduced / min(trees, 2) + driver),
    }  # fmt: skip


def known_runs(**changes):
    return [
        known_run(rows, trees, depth)
        for rows in (65_000, 325_000, 1_000_000)
        for trees in (10, 30)
        for depth in (31, 63)
    ]


def test_costs_of_terms_are_found():
    model = CostModel.fitted(known_runs())
    found = model.predict(Shape(5e6, 50, 63, 10, 2, 400))
    truth = known_run(5e6, 50, 63)
    assert found["nodes"] == pytest.approx(4.0 * 5e6 * 50 / 400)
    halved = replace(Shape.of_run(truth), threshold=400)
    assert model.predict(halved)["shuffle_bytes"] == pytest.approx(truth["shuffle_bytes"])
    same = model.predict(replace(Shape.of_run(truth), nodes=0.0))
    for name in ("cpu_total_s", "map_task_s", "reduce_task_s", "result_bytes"):
        assert same[name] == pytest.approx(truth[name], rel=1e-6)


def test_no_cost_is_negative():
    rng = np.random.default_rng(4)
    runs = [run | {"cpu_total_s": run["cpu_total_s"] * rng.uniform(0.5, 2)} for run in known_runs()]
    assert all((costs >= 0).all() for costs in CostModel.fitted(runs).costs.values())


def test_the_largest_size_is_held_out_and_predicted(tmp_path, capsys):
    path = tmp_path / "benchmark.json"
    path.write_text(json.dumps({"runs": known_runs(), "about": {"cores": 2}}), encoding="utf-8")
    assert cost_model.main([str(path), "--rows", "1e9", "--trees", "50"]) == 0
    out = capsys.readouterr().out
    found = json.loads(out.splitlines()[-1])
    assert found["worst_off"] < 1e-3
    assert {(row["trees"], row["depth"]) for row in found["held_out"]} == {
        (trees, depth) for trees in (10, 30) for depth in (31, 63)
    }
    assert found["outlook"][0]["nodes"] == pytest.approx(4.0 * 1e9 * 50 / 200)
    assert "maxResultSize" in found["outlook"][0]["limit"]
    assert found["outlook"][-1]["limit"] != found["outlook"][0]["limit"]


def test_a_size_that_behaves_otherwise_is_noticed():
    runs = known_runs()
    runs = [run if run["rows"] < 1e6 else known_run(1e6, run["trees"], run["depth"], slow=2)
            for run in runs]  # fmt: skip
    check = cost_model.held_out_check(
        cost_model.fits_of({"runs": runs, "about": {"cores": 2}}), 1_000_000
    )
    off = [row["off"] for row in check if row["quantity"] in ("cpu_total_s", "wall_s")]
    assert np.allclose(off, -0.5, atol=0.01)


def test_rounds_are_summed_up_by_their_median():
    runs = [known_run(65_000, 10, 31, repeat=i) | {"wall_s": wall}
            for i, wall in enumerate((1.0, 50.0, 2.0))]  # fmt: skip
    (found,) = cost_model.fits_of({"runs": runs, "about": {"cores": 2}})
    assert found["wall_s"] == 2.0


def test_one_size_is_not_enough(tmp_path, capsys):
    path = tmp_path / "benchmark.json"
    runs = [known_run(65_000, 10, 31)]
    path.write_text(json.dumps({"runs": runs, "about": {"cores": 2}}), encoding="utf-8")
    assert cost_model.main([str(path)]) == 2
    assert "two sizes" in capsys.readouterr().err
