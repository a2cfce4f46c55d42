"""Without the library in shared_preload_libraries a logged index cannot be changed; others can, and survive crashes."""

import signal

import psycopg
import pytest
from conftest import assert_index_is_heap


@pytest.mark.timeout(180)
def test_not_preloaded(make_server):
    server = make_server("unloaded", shared_preload_libraries="", wal_consistency_checking="")
    server.start()
    with server.connect() as connection:
        connection.autocommit = True
        connection.execute("CREATE EXTENSION penumbra_keytree")
        connection.execute("CREATE TABLE logged (k int)")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="not preloaded"):
            connection.execute("CREATE INDEX ON logged USING keytree (k)")
        connection.execute("CREATE UNLOGGED TABLE unlogged (k int)")
        connection.execute("CREATE INDEX ON unlogged USING keytree (k)")
        connection.execute("INSERT INTO unlogged SELECT generate_series(1, 5000)")
        connection.execute("CHECKPOINT")
        assert_index_is_heap(connection, "unlogged", "k")
    server.kill(server.postmaster_pid(), signal.SIGQUIT)
    server.stop("immediate")
    server.start()
    with server.connect() as connection:
        connection.autocommit = True
        assert connection.execute("SELECT count(*) FROM unlogged").fetchone()[0] == 0
        connection.execute("INSERT INTO unlogged SELECT generate_series(1, 3000)")
        assert_index_is_heap(connection, "unlogged", "k")
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="not preloaded"):
            connection.execute("ALTER TABLE unlogged SET LOGGED")


@pytest.mark.timeout(180)
def test_library_lost(make_server):
    """A logged index of a server that no longer preloads can be read, not written."""
    server = make_server("unloaded", wal_consistency_checking="")
    server.start()
    with server.connect() as connection:
        connection.autocommit = True
        connection.execute("CREATE EXTENSION penumbra_keytree")
        connection.execute("CREATE TABLE t (k int)")
        connection.execute("CREATE INDEX ON t USING keytree (k)")
        connection.execute("INSERT INTO t SELECT generate_series(1, 3000)")
    server.restart({"shared_preload_libraries": ""})
    with server.connect() as connection:
        connection.autocommit = True
        assert_index_is_heap(connection, "t", "k")
        for statement in ("INSERT INTO t VALUES (1)", "DELETE FROM t; VACUUM t"):
            with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="not preloaded"):
                for part in statement.split(";"):
                    connection.execute(part)
