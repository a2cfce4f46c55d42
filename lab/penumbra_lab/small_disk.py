"""A disk that tests can fill."""

import subprocess
from pathlib import Path

from penumbra_lab.errors import LabError
from penumbra_lab.server import give_to_server_user


class SmallDisk:
    """A file system of a few megabytes, mounted on a directory for servers."""

    def __init__(self, path: Path, bytes_: int) -> None:
        self.path = path
        path.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={bytes_}", "penumbra-small-disk", str(path)],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode != 0:
            raise LabError(f"file systems cannot be mounted here: {done.stderr.strip()}")
        give_to_server_user(path)

    def resize(self, bytes_: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={bytes_}", str(self.path)], check=True)

    def remove(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.path)], check=True)
