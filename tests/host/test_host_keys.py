"""known_hosts as OpenSSH reads it: compared with ssh-keygen where it can say."""

import shutil
import subprocess
from pathlib import Path

import asyncssh
import pytest

from specttui.host.host_keys import HostRecord, Marker, Verdict, add, fingerprint, host_name, look_up


def _key() -> tuple[str, bytes]:
    """Text for known_hosts, and the key's data."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    return key.export_public_key().decode().strip(), key.public_data


MINE, MINE_BLOB = _key()
OTHER, OTHER_BLOB = _key()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "known_hosts"


def _judge(record: HostRecord, blob: bytes = MINE_BLOB) -> tuple[Verdict, int]:
    verdict, line = record.judge(blob)
    return verdict, line.line_number if line else 0


@pytest.mark.parametrize(
    ("text", "host", "port", "expected"),
    [
        ("gpu MINE", "gpu", 22, (Verdict.TRUSTED, 1)),
        ("gpu MINE", "GPU", 22, (Verdict.TRUSTED, 1)),
        ("# note\n\ngpu OTHER", "gpu", 22, (Verdict.CHANGED, 3)),
        ("other OTHER", "gpu", 22, (Verdict.UNKNOWN, 0)),
        ("gpu OTHER\ngpu MINE", "gpu", 22, (Verdict.TRUSTED, 2)),
        ("a,gpu,b MINE", "gpu", 22, (Verdict.TRUSTED, 1)),
        ("*.corp MINE", "gpu.corp", 22, (Verdict.TRUSTED, 1)),
        ("gpu? MINE", "gpu7", 22, (Verdict.TRUSTED, 1)),
        ("*.corp,!bad.corp OTHER", "bad.corp", 22, (Verdict.UNKNOWN, 0)),
        ("[gpu]:2222 OTHER", "gpu", 2222, (Verdict.CHANGED, 1)),
        ("[gpu]:2222 OTHER", "gpu", 22, (Verdict.UNKNOWN, 0)),
        ("gpu MINE", "gpu", 2222, (Verdict.TRUSTED, 1)),
        ("gpu OTHER", "gpu", 2222, (Verdict.UNKNOWN, 0)),
        ("gpu MINE\n[gpu]:2222 OTHER", "gpu", 2222, (Verdict.CHANGED, 2)),
        ("@revoked * MINE\ngpu MINE", "gpu", 22, (Verdict.REVOKED, 1)),
        ("@cert-authority *.corp MINE", "gpu.corp", 22, (Verdict.UNKNOWN, 0)),
        ("@unheard-of gpu OTHER", "gpu", 22, (Verdict.UNKNOWN, 0)),
        ("gpu ssh-ed25519 not*base64", "gpu", 22, (Verdict.UNKNOWN, 0)),
        ("gpu ssh-ed25519", "gpu", 22, (Verdict.UNKNOWN, 0)),
        ("|1|short", "gpu", 22, (Verdict.UNKNOWN, 0)),
        ("|1|***|x OTHER", "gpu", 22, (Verdict.UNKNOWN, 0)),
    ],
)
def test_verdicts(file: Path, text: str, host: str, port: int, expected: tuple[Verdict, int]):
    file.write_text(text.replace("MINE", MINE).replace("OTHER", OTHER) + "\n")
    assert _judge(look_up([file], host, port)) == expected


def test_files_are_read_in_order_and_may_be_missing(file: Path, tmp_path: Path):
    file.write_text(f"gpu {OTHER}\n")
    record = look_up([tmp_path / "none", file], "gpu", 22)
    verdict, line = record.judge(MINE_BLOB)
    assert verdict is Verdict.CHANGED
    assert line is not None
    assert line.place == f"{file}, line 1"


def test_keys_by_marker_leave_out_what_is_revoked(file: Path):
    file.write_text(f"gpu {MINE}\ngpu {OTHER}\n@revoked gpu {OTHER}\n@cert-authority gpu {OTHER}\n")
    record = look_up([file], "gpu", 22)
    assert record.blobs(Marker.HOST) == [("ssh-ed25519", MINE_BLOB)]
    assert record.blobs(Marker.AUTHORITY) == []
    assert record.blobs(Marker.REVOKED) == [("ssh-ed25519", OTHER_BLOB)]


def test_adding_makes_the_file_private_and_appends_whole_lines(tmp_path: Path):
    path = tmp_path / "ssh" / "known_hosts"
    add(path, "gpu", 22, "ssh-ed25519", MINE_BLOB)
    assert path.read_text() == f"gpu {MINE}\n"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    path.write_text(f"a {OTHER}")
    add(path, "gpu", 2222, "ssh-ed25519", MINE_BLOB)
    assert path.read_text() == f"a {OTHER}\n[gpu]:2222 {MINE}\n"


@pytest.mark.openssh
def test_hashed_names_are_those_of_ssh_keygen(file: Path):
    keygen = shutil.which("ssh-keygen")
    assert keygen, "OpenSSH's client is not installed"
    file.write_text(f"gpu {OTHER}\n[gpu]:2222 {OTHER}\n")
    subprocess.run([keygen, "-q", "-H", "-f", file], check=True, capture_output=True)
    assert "gpu" not in file.read_text()
    assert _judge(look_up([file], "gpu", 22)) == (Verdict.CHANGED, 1)
    assert _judge(look_up([file], "gpu", 2222)) == (Verdict.CHANGED, 2)
    assert _judge(look_up([file], "other", 22)) == (Verdict.UNKNOWN, 0)
    add(file, "new-host", 22, "ssh-ed25519", MINE_BLOB)
    assert "new-host" not in file.read_text()
    found = subprocess.run([keygen, "-F", "new-host", "-f", file], capture_output=True, text=True, check=True)
    assert "line 3" in found.stdout


@pytest.mark.openssh
def test_fingerprints_are_those_of_ssh_keygen(tmp_path: Path):
    path = tmp_path / "key.pub"
    path.write_text(MINE + "\n")
    shown = subprocess.run(["ssh-keygen", "-l", "-f", path], capture_output=True, text=True, check=True)
    assert shown.stdout.split()[1] == fingerprint(MINE_BLOB)


def test_names_with_and_without_a_port():
    assert host_name("GPU", 22) == "gpu"
    assert host_name("::1", 2222) == "[::1]:2222"
