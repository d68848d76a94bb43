import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from paramhs.bundled.instances import families
from paramhs.bundled.instances.dimacs import Formula, read_formula
from paramhs.bundled.instances.families import Family, write_instances
from paramhs.cli.instances import app
from paramhs.core.errors import BadInput
from tests.support.command_line import paramhs

SMALL = {
    "random-ksat": ["--variables", "20"],
    "circuit-fuzz": ["--inputs", "5"],
    "colouring": ["--vertices", "12"],
    "set-cover": ["--rows", "6", "--columns", "9"],
    "knapsack": ["--items", "7"],
}


def written(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("family", SMALL)
def test_a_family_is_written_as_many_times_as_asked(family: str, tmp_path: Path) -> None:
    result = written(family, *SMALL[family], "--count", 3, "--out", tmp_path / "new")
    assert result.exit_code == 0
    files = sorted((tmp_path / "new").iterdir(), key=lambda path: path.stem[-4:])
    assert [path.stem[-4:] for path in files] == ["0000", "0001", "0002"]
    assert "(3 files)" in result.output
    for number, path in enumerate(files):
        first = path.read_text(encoding="ascii").split("\n")[0]
        assert f"paramhs instances {family} --" in first
        assert first.endswith(f"--seed 0, number {number}")


def test_names_and_comments_tell_how_a_file_was_made(tmp_path: Path) -> None:
    words = ["--k", 4, "--variables", 10, "--ratio", 2.5, "--planted", "--seed", 3, "--count", 1]
    written("random-ksat", *words, "--out", tmp_path)
    (path,) = tmp_path.iterdir()
    assert path.name == "planted-4sat-v10-c25-0000.cnf"
    made = "c paramhs instances random-ksat --k 4 --variables 10 --ratio 2.5 --planted --seed 3,"
    assert path.read_text(encoding="ascii").startswith(f"{made} number 0\np cnf 10 25\n")
    assert len(read_formula(path).clauses) == 25


def test_options_that_were_not_given_are_not_said_and_zero_is(tmp_path: Path) -> None:
    written("circuit-fuzz", "--inputs", 4, "--variables", 0, "--count", 1, "--out", tmp_path)
    (content,) = contents(tmp_path).values()
    assert content.startswith(b"c paramhs instances circuit-fuzz --inputs 4 --variables 0 --seed 0")


def test_an_instance_does_not_depend_on_how_many_are_written(tmp_path: Path) -> None:
    for count in (2, 5):
        written("colouring", "--vertices", 9, "--count", count, "--out", tmp_path / str(count))
    assert contents(tmp_path / "2").items() < contents(tmp_path / "5").items()


def test_json_lists_what_was_written(tmp_path: Path) -> None:
    words = [
        "--items",
        7,
        "--dimensions",
        2,
        "--count",
        2,
        "--seed",
        5,
        "--out",
        tmp_path,
        "--json",
    ]
    message = json.loads(written("knapsack", *words).output)
    files = [tmp_path / f"knapsack-r2-c7-000{i}.lp" for i in range(2)]
    assert message == {
        "version": 1,
        "family": "knapsack",
        "options": {"items": 7, "dimensions": 2, "tightness": 0.5},
        "seed": 5,
        "files": [{"path": str(path), "rows": 2, "columns": 7} for path in files],
    }
    assert all(path.is_file() for path in files)


def test_a_file_that_exists_stays_and_nothing_else_is_written(tmp_path: Path) -> None:
    words = ["instances", "random-ksat", "--variables", 20, "--count", 4, "--out", tmp_path]
    mine = tmp_path / "random-3sat-v20-c85-0002.cnf"
    mine.write_text("mine")
    result = paramhs(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == (
        f"paramhs: {mine} exists already; nothing was written, give another folder\n"
    )
    assert contents(tmp_path) == {mine.name: b"mine"}


def test_an_interrupt_leaves_no_half_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family = Family("empty", {}, lambda rng: Formula(0, ()))
    original = families._text

    def text(made: Formula, comment: str) -> str:
        if comment.endswith("number 2"):
            raise KeyboardInterrupt
        return original(made, comment)

    monkeypatch.setattr(families, "_text", text)
    with pytest.raises(KeyboardInterrupt):
        write_instances(family, 4, 0, tmp_path)
    assert contents(tmp_path) == {}


def test_a_folder_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    family = Family("empty", {}, lambda rng: Formula(0, ()))
    with pytest.raises(BadInput, match=r"cannot write into .*file/x: Not a directory"):
        write_instances(family, 1, 0, tmp_path / "file" / "x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["random-ksat", "--k", 9, "--variables", 5], "k = 9 distinct variables"),
        (["random-ksat", "--ratio", 0], "ratio must be a number above 0"),
        (["knapsack", "--count", 0], "count must be at least 1, not 0"),
    ],
)
def test_impossible_options_make_no_folder(
    words: list[object], message: str, tmp_path: Path
) -> None:
    result = written(*words, "--out", tmp_path / "new")
    assert isinstance(result.exception, BadInput)
    assert message in str(result.exception)
    assert not (tmp_path / "new").exists()


def test_the_help_names_every_family() -> None:
    text = written("--help").output
    assert all(family in text for family in SMALL)
