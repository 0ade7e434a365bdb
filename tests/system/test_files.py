"""Files that others read: replaced whole or not at all, and read without being led astray."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from ringbolt.model.errors import InvalidInput
from ringbolt.system.files import is_temp, open_plain, read_bounded, replacing, sweep, write_atomic
from tests.support import refused


def temps(folder):
    return [name for name in os.listdir(folder) if is_temp(name)]


def test_a_file_is_written_whole_with_its_mode(tmp_path):
    path = tmp_path / "a.json"
    write_atomic(str(path), b"one")
    assert path.read_bytes() == b"one"
    assert path.stat().st_mode & 0o777 == 0o600
    write_atomic(str(path), b"two", mode=0o644)
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_name_of_full_length_can_be_written(tmp_path):
    path = tmp_path / ("ä" * 127)
    write_atomic(str(path), b"x")
    assert path.read_bytes() == b"x"


def test_a_relative_path_is_written_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomic("a", b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


def test_nothing_changes_when_writing_fails(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail():
        with replacing(str(path)) as file:
            file.write(b"new")
            file.flush()
            assert len(temps(tmp_path)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert temps(tmp_path) == []


def test_a_link_is_replaced_and_what_it_leads_to_is_left_alone(tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    link = tmp_path / "link"
    link.symlink_to(other)
    write_atomic(str(link), b"new")
    assert other.read_bytes() == b"mine"
    assert not link.is_symlink()


def test_a_folder_in_the_way_stays_and_no_temporary_file_is_left(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomic(str(tmp_path / "a"), b"x")
    assert os.listdir(tmp_path) == ["a"]


def test_what_a_killed_writer_left_is_swept_and_what_is_being_written_is_not(tmp_path):
    code = (
        "import sys; from ringbolt.system.files import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); print('writing', flush=True); sys.stdin.read()\n"
    )
    path = tmp_path / "a"
    writer = subprocess.Popen(
        [sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert writer.stdout.readline() == b"writing\n"
        assert sweep(str(tmp_path)) == 0
        writer.send_signal(signal.SIGKILL)
    finally:
        writer.kill()
        writer.communicate()
    assert len(temps(tmp_path)) == 1
    assert sweep(str(tmp_path)) == 1
    assert os.listdir(tmp_path) == []


def test_a_left_over_of_our_own_number_is_swept_and_never_written_to(tmp_path):
    with replacing(str(tmp_path / "a")) as file:
        number = int(file_number(tmp_path))
        file.write(b"x")
    left = [tmp_path / f".a.{os.getpid()}-{number + more}.ringbolt-tmp" for more in (1, 2)]
    for path in left:
        path.write_bytes(b"half")
    write_atomic(str(tmp_path / "a"), b"y")
    assert [path.read_bytes() for path in left] == [b"half", b"half"]
    assert sweep(str(tmp_path)) == 2
    assert os.listdir(tmp_path) == ["a"]


def file_number(folder):
    (name,) = temps(folder)
    return name.removesuffix(".ringbolt-tmp").rpartition("-")[2]


def test_sweeping_leaves_strangers_alone(tmp_path):
    (tmp_path / ".a.1-1.ringbolt-tmp").mkdir()
    (tmp_path / ".b.1-1.ringbolt-tmp").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / ".c.1-1.ringbolt-tmp")
    (tmp_path / "d.ringbolt-tmp").write_bytes(b"")
    (tmp_path / ".e.tmp").write_bytes(b"")
    assert sweep(str(tmp_path)) == 0
    assert len(os.listdir(tmp_path)) == 5


def test_a_file_is_read_up_to_a_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bounded(str(tmp_path / "a"), 5) == b"12345"
    with refused(None, "too_large", naming="more than 4 bytes"):
        read_bounded(str(tmp_path / "a"), 4)


def test_neither_pipes_nor_devices_nor_folders_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path)):
        with refused(None, "invalid_argument", naming="no plain file"):
            read_bounded(path, 100)


def test_a_link_within_the_root_is_followed_and_one_that_leads_out_is_not(tmp_path):
    root = tmp_path / "root"
    (root / "below").mkdir(parents=True)
    (root / "below" / "a").write_bytes(b"in")
    (tmp_path / "secret").write_bytes(b"out")
    (root / "in").symlink_to("below/a")
    (root / "out").symlink_to("../secret")
    (root / "folder").symlink_to(tmp_path)
    assert read_bounded(str(root / "in"), 9, root=str(root)) == b"in"
    assert read_bounded(str(root / "below" / ".." / "in"), 9, root=str(root)) == b"in"
    for name in ("out", "folder/secret", "../secret", "../root-like", ""):
        with pytest.raises(InvalidInput) as caught:
            read_bounded(str(root / name), 9, root=str(root))
        assert "outside" in str(caught.value)


def test_a_root_that_is_itself_a_link_is_a_root(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"x")
    (tmp_path / "root").symlink_to("real")
    assert read_bounded(str(tmp_path / "root" / "a"), 9, root=str(tmp_path / "root")) == b"x"


def test_a_folder_that_is_swapped_for_a_link_while_we_open_is_not_followed(tmp_path, monkeypatch):
    root = tmp_path / "root"
    (root / "below").mkdir(parents=True)
    (root / "below" / "a").write_bytes(b"in")
    (tmp_path / "a").write_bytes(b"out")
    really = os.path.realpath

    def swap(path):
        found = really(path)
        if str(path).endswith("a"):
            (root / "below").rename(root / "moved")
            (root / "below").symlink_to(tmp_path)
        return found

    monkeypatch.setattr(os.path, "realpath", swap)
    with pytest.raises(NotADirectoryError):
        open_plain(str(root / "below" / "a"), root=str(root))
