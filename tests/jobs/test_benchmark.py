"""The benchmark from end to end on a small table; its sums, its watch over processes."""

import json
import time

import numpy as np
import pyarrow as pa
import pytest

from jobs import benchmark
from jobs._bench_kernels import KERNELS, KernelTask, _levels, kernel_seconds, unit_costs
from jobs._bench_processes import ROLES, measured
from jobs._bench_report import OURS, SPARK, growth_of, markdown_of, summary_of
from tests.small_models import SCHEMA, small_plan, small_table


def a_run(system, rows, wall, *, trees=30, depth=63, **more):
    peaks = dict.fromkeys((*ROLES, "driver_above_idle"), 7)
    shape = {"system": system, "rows": rows, "trees": trees, "depth": depth, "step": "fit"}
    return {**shape, "wall_s": wall, "cpu_total_s": 2 * wall, "peak_bytes": peaks, **more}


def test_the_summary_takes_medians_and_compares_what_ran_on_the_same_rows():
    runs = [a_run(OURS, 100, wall, shuffle_bytes=5) for wall in (1.0, 9.0, 2.0)]
    runs += [a_run(SPARK, 100, wall, depth=10) for wall in (4.0, 8.0, 9.0)]
    runs += [a_run(SPARK, 200, 77.0, depth=10), a_run(SPARK, 100, 77.0, depth=10, trees=3)]
    kernels = [{"rows": 100, "trees": 30, "depth": 63, "kernels_s": 1.6}]
    kernels += [{"rows": 100, "trees": 30, "depth": 20, "kernels_s": 9.9}]
    (found,) = summary_of(runs, kernels)
    assert (found["wall_s"], found["spark_forest_wall_s"]) == (2.0, 8.0)
    assert found["ratio_to_spark_forest"] == 0.25
    assert (found["cpu_s"], found["cpu_over_kernels"]) == (4.0, 2.5)
    assert (found["rows_per_s"], found["shuffle_bytes"], found["repeats"]) == (50, 5, 3)


def test_growth_compares_sizes_of_one_shape():
    runs = [a_run(OURS, 100, 1.0), a_run(OURS, 400, 4.4), a_run(OURS, 400, 50.0, depth=20)]
    (found,) = growth_of(summary_of(runs, []))
    assert (found["rows"], found["time"], found["cpu"]) == (4.0, 4.4, 4.4)


def test_the_table_shows_every_shape():
    summary = summary_of([a_run(OURS, 1_000_000, 3.0), a_run(OURS, 2_000_000, 6.0)], [])
    text = markdown_of({"summary": summary, "growth": growth_of(summary)})
    assert "| 1,000,000 | 30 | 63 | fit | 3.00 |" in text
    assert "rows x 2.0 (1,000,000 -> 2,000,000), time x 2.0" in text


def test_the_watch_sees_memory_and_cpu_of_this_process():
    def work():
        held = np.ones(40 << 20, np.uint8)
        deadline = time.process_time() + 0.2
        while time.process_time() < deadline:
            pass
        return held[:3].sum()

    found = measured(work)
    assert found.result == 3
    assert found.peak_bytes["driver_above_idle"] > 35 << 20
    assert 0.2 <= found.cpu_s["driver"] < 5


def test_levels_of_path_codes_are_the_place_of_their_last_one():
    rng = np.random.default_rng(1)
    for n_words in (1, 2):
        levels = rng.integers(0, 64 * n_words, 200)
        codes = np.zeros((200, n_words), np.uint64)
        for code, level in zip(codes, levels, strict=True):
            bits = [*rng.integers(0, 2, level).tolist(), 1]
            bits += [0] * (64 * n_words - len(bits))
            text = "".join(map(str, bits))
            code[:] = [int(text[64 * w : 64 * w + 64], 2) for w in range(n_words)]
        assert np.array_equal(_levels(codes), levels)


def test_kernels_alone_walk_every_row_down_every_tree():
    table = small_table(400)
    task = KernelTask(SCHEMA.to_dict(), small_plan(max_depth=20), 5)
    found = kernel_seconds([table.slice(0, 300).to_batches(), table.slice(300).to_batches()], task)
    assert set(KERNELS) <= set(found["parts_s"])
    assert found["records"] >= 5 * 250  # some rows share a path to the middle
    costs = unit_costs([pa.Table.to_batches(table)], task)
    assert {"encode", "DistinctRows", "route", "merge", "count"} <= {c["kernel"] for c in costs}
    assert all(cost["ns"] >= 0 and cost["bytes"] > 0 for cost in costs)


def test_a_config_or_smoke_must_be_given(capsys):
    with pytest.raises(SystemExit) as stopped:
        benchmark.main([])
    assert stopped.value.code == 2
    assert "--smoke" in capsys.readouterr().err


@pytest.mark.spark
def test_a_smoke_run_measures_every_system_and_leaves_json_and_a_plot(tmp_path, spark, capsys):
    pytest.importorskip("matplotlib")
    assert benchmark.main(["--smoke", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    last = json.loads(out.splitlines()[-1])
    found = json.loads((tmp_path / "benchmark.json").read_text(encoding="utf-8"))
    assert last["summary"] == found["summary"]
    both = ("lumberjack_spark", "spark_forest", "sklearn_extra_trees")
    assert {(run["system"], run["step"]) for run in found["runs"]} == {
        *((system, step) for system in both for step in ("fit", "transform")),
        ("spark_large_forest", "transform"),
    }
    fits = [run for run in found["runs"] if (run["system"], run["step"]) == (OURS, "fit")]
    assert [run["rows"] for run in fits] == sorted({run["rows"] for run in found["runs"]})
    for run in fits:
        assert run["shuffle_bytes"] > 0
        assert run["peak_bytes"]["workers"] > 0
        assert run["cpu_s"]["workers"] > 0
    assert len(found["kernels"]) == len(fits)
    assert (tmp_path / "benchmark.png").stat().st_size > 5000
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()
