"""What --out may name: devices, pipes and links stay what they are, and get the content."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from suite.errors import UserError
from suite.guard.out import write_out, write_own


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("before")
    (tmp_path / "target").chmod(0o600)
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "dangling").symlink_to("new/target")
    for name in ("link", "dangling"):
        write_out(tmp_path / name, "after")
        assert (tmp_path / name).is_symlink() and (tmp_path / name).read_text() == "after"
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o600
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UserError, match="loop can't be written to"):
        write_out(tmp_path / "loop", "after")


def test_a_file_system_that_takes_no_change_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There even deleting what isn't there fails for this reason."""

    def refused(path: str | Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("suite.guard.plain_files.os.unlink", refused)
    with pytest.raises(UserError, match="Read-only file system"):
        write_own(tmp_path / "page.html", "text")


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    null = tmp_path / "null"  # a stand-in, never the real one
    try:
        os.mknod(null, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    write_out(null, "gone")
    assert null.is_char_device() and null.read_bytes() == b""


def test_a_pipe_passes_the_content_on(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write_out(pipe, "through")
    reader.join(10)
    assert pipe.is_fifo() and got == ["through"]


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_out(name, "text")
    write_out(name, b"\x00bytes")
    assert sorted(capsysbinary.readouterr().out) == sorted(b"text\x00bytes") and not [*tmp_path.iterdir()]


def test_a_file_that_the_shell_has_open_is_written_into(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w+") as file:
        write_out(f"/proc/self/fd/{file.fileno()}", "into")
        assert os.pread(file.fileno(), 9, 0) == b"into"


def test_a_link_in_a_set_s_folder_is_replaced(tmp_path: Path) -> None:
    """A stranger may have put it there."""
    (tmp_path / "mine").write_text("before")
    for name in ("report.html", ".report.html.draft"):
        (tmp_path / name).symlink_to("mine")
    write_own(tmp_path / "report.html", "page")
    assert (tmp_path / "mine").read_text() == "before" and (tmp_path / "report.html").read_text() == "page"
    assert not (tmp_path / "report.html").is_symlink() and len([*tmp_path.iterdir()]) == 2


def test_folders_are_made_and_what_can_t_be_written_is_said(tmp_path: Path) -> None:
    write_out(tmp_path / "new" / "er" / "file", b"content")
    assert (tmp_path / "new" / "er" / "file").read_bytes() == b"content"
    with pytest.raises(UserError, match=r"/proc/h\.parquet can't be written to: No such file.*--out=FILE"):
        write_out("/proc/h.parquet", b"content")


def test_a_name_with_a_slash_behind_it_is_a_folder_s(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="new is a folder"):
        write_out(f"{tmp_path}/new/", "text")
    assert not [*tmp_path.iterdir()]
