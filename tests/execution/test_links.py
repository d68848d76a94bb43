"""Links that another user has put where a file is made: no file elsewhere is touched."""

import os

import pytest

import paramhs
from paramhs.api.load import load
from paramhs.core.errors import BadInput, StoreError
from paramhs.execution.safe_files import write_whole
from paramhs.execution.storage.lock import is_held
from paramhs.report.files import page_beside, write_report
from tests.support.stores import contents, filled, opened, run_of
from tests.support.targets import SPACE, noisy

PRECIOUS = "years of work"


@pytest.fixture
def precious(tmp_path):
    """A file of the user's, in a folder that no other user can write into."""
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "thesis.tex"
    path.write_text(PRECIOUS)
    yield path
    assert path.read_text() == PRECIOUS


@pytest.fixture
def store(tmp_path):
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared" / "runs.sqlite"


def beside(store, ending):
    return store.with_name(store.name + ending)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_lock_file_that_is_a_link_is_not_written(store, precious, link):
    link(precious, beside(store, ".lock"))
    with pytest.raises(StoreError, match=r"runs.sqlite.lock is .*remove it"):
        opened(store)
    assert not is_held(store)


def test_a_lock_file_that_is_a_pipe_is_not_waited_for(store):
    filled(store, 1)
    os.mkfifo(beside(store, ".lock"))
    assert not is_held(store)
    with pytest.raises(StoreError, match="not an ordinary file"):
        opened(store)


@pytest.mark.parametrize("ending", ["-wal", "-journal", "-shm"])
def test_the_files_of_sqlite_follow_no_links(store, precious, ending):
    filled(store, 3)
    os.symlink(precious, beside(store, ending))
    with pytest.raises(StoreError, match=r"no file beside it .* is a link"):
        opened(store)


def test_a_link_to_nothing_creates_nothing(store, tmp_path):
    os.symlink(tmp_path / "elsewhere", store)
    with pytest.raises(StoreError, match="neither a file nor a link to one"):
        opened(store)
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_to_an_empty_file_leaves_it_empty(store, tmp_path):
    (tmp_path / "empty").touch()
    os.symlink(tmp_path / "empty", store)
    with pytest.raises(StoreError, match="link to an empty file"):
        opened(store)
    assert (tmp_path / "empty").stat().st_size == 0


def test_a_link_to_a_store_is_followed(store, tmp_path):
    runs = filled(tmp_path / "real.sqlite", 3)
    os.symlink(tmp_path / "real.sqlite", store)
    assert contents(store) == set(runs)


def test_a_store_that_is_a_pipe_is_refused(store):
    os.mkfifo(store)
    with pytest.raises(StoreError):
        opened(store)
    with pytest.raises(StoreError, match="is not a file"):
        paramhs.load(store)


def test_a_rescued_store_follows_no_link(store, tmp_path):
    os.symlink(tmp_path / "elsewhere", store.with_name("runs.rescued.sqlite"))
    made = opened(store)
    made.put(run_of(0))
    store.unlink()
    made._next_look = 0.0
    with pytest.raises(StoreError, match=r"runs.rescued1.sqlite"):
        made.put(run_of(1))
    made.close()
    assert not (tmp_path / "elsewhere").exists()
    assert contents(store.with_name("runs.rescued1.sqlite")) == {run_of(0)}


def test_a_page_replaces_a_link_and_leaves_its_target(store, precious):
    paramhs.tune(noisy, SPACE, instances=range(3), budget=20, store=store, progress=False)
    page = page_beside(store)
    os.symlink(precious, page)
    os.symlink(precious, page.with_name(f".{page.name}.{os.getpid()}.part"))
    write_report(load(store), page, figures=store.parent / "figures")
    assert page.read_text().startswith("<!doctype html>")
    assert not page.is_symlink()


def test_a_text_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "page.html"
    write_whole(path, "old")
    with pytest.raises(AttributeError):
        write_whole(path, None)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]
    with pytest.raises(BadInput, match="there is no folder"):
        write_whole(tmp_path / "none" / "page.html", "new")
