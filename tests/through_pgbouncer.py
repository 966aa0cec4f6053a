"""The tests of the server through PgBouncer in transaction mode, where its program is installed::

    PYTHONPATH=tests python -m pytest -p through_pgbouncer -m postgres

A plugin of pytest: each server of the tests gets a pool of six connections in front, and every URL leads to that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from typing import Any

from postgres_server import Postgres

_SETTINGS = """
[databases]
* = host={server} pool_size=6
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = trust
auth_file = {folder}/users.txt
auth_user = postgres
auth_query = SELECT usename, coalesce(passwd, '') FROM pg_shadow WHERE usename = $1
pool_mode = transaction
max_client_conn = 1000
server_login_retry = 1
query_wait_timeout = 5
logfile = {folder}/log
"""
_direct, _begin, _sql, _close = Postgres.url, Postgres.__init__, Postgres.sql, Postgres.close


def _begin_with_pool(self: Any) -> None:
    _begin(self)
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program is not None, "install the package pgbouncer"
    folder = self.folder / "pool"
    folder.mkdir()
    (folder / "users.txt").write_text('"postgres" ""\n')
    (folder / "settings.ini").write_text(_SETTINGS.format(server=self.folder, folder=folder))
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    given = ["-u", "nobody"] if os.geteuid() == 0 else []
    self.pool = subprocess.Popen([program, "-q", *given, str(folder / "settings.ini")], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not (folder / ".s.PGSQL.6432").exists():
        assert self.pool.poll() is None and time.monotonic() < until, "PgBouncer does not start"
        time.sleep(0.05)


def _through_pool(self: Any, user: str = "postgres", database: str = "postgres") -> str:
    if not hasattr(self, "pool"):  # it is being made
        return _direct(self, user, database)
    return f"postgresql://{user}@/{database}?host={self.folder}/pool&port=6432"


def _sql_directly(self: Any, statement: str) -> None:
    pool = self.__dict__.pop("pool", None)
    try:
        _sql(self, statement)
    finally:
        if pool is not None:
            self.pool = pool


def _close_both(self: Any) -> None:
    self.pool.terminate()
    self.pool.wait()
    _close(self)


def pytest_configure() -> None:
    """Put a pool in front of every server of the tests."""
    Postgres.__init__, Postgres.url = _begin_with_pool, _through_pool  # type: ignore[method-assign]
    Postgres.sql, Postgres.close = _sql_directly, _close_both  # type: ignore[method-assign]
