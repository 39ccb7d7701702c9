"""The README says what is so: its example runs, its commands and links lead somewhere."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def block(mark, kind):
    """The first block of a kind after a mark."""
    return re.search(rf"{re.escape(mark)}.*?```{kind}\n(.*?)```", README, re.DOTALL)[1]


@pytest.mark.spark
def test_the_library_example_runs(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example = block("## As a library", "python")
    assert len(example.splitlines()) <= 15
    exec(compile(example, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "(1, 1e-06)-differential privacy" in shown
    assert re.search(r"\d+ nodes$", shown)
    assert "predictedLabel" in shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_of_the_project(page):
    for link in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_the_map_names_every_package():
    packages = [found.parent for found in (ROOT / "lumberjack_spark").glob("*/__init__.py")]
    assert len(packages) > 5
    for package in packages:
        assert f"`lumberjack_spark/{package.name}`" in README


def test_programs_and_configs_of_the_commands_exist():
    commands = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for path in re.findall(r"\b(?:jobs|conf)/[\w\-.]+", " ".join(commands)):
        assert (ROOT / path).is_file(), path


def test_continuous_integration_runs_the_test_command_of_this_page():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    program = re.search(r"awk '(.*?)' README.md", script, re.DOTALL)[1]
    command = ["awk", program, "README.md"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found == block("<!-- test command -->", "sh")
    assert "pytest" in found
    assert 'bash -euo pipefail -c "$command"' in script


def test_the_extras_of_the_commands_are_declared():
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for extras in re.findall(r"'\.\[([\w,]+)\]'", README):
        for extra in extras.split(","):
            assert re.search(rf"^{extra} = \[", declared, re.MULTILINE), extra
