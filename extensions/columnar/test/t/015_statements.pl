# Statements are counted as pg_stat_statements counts them, by 64 sessions at once, in bounded memory, through cancels
# and a crash; auto_explain says why a statement was not run in vectors.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'pg_stat_statements, auto_explain, penumbra'
penumbra.memory = '64MB'
penumbra.auto_load = off
penumbra.max_statements = 200
pg_stat_statements.track = all
autovacuum = off
max_connections = 80
max_parallel_workers_per_gather = 0
jit = off
restart_after_crash = on
});
$node->start;
$node->safe_psql('postgres', q{
CREATE EXTENSION penumbra;
CREATE EXTENSION pg_stat_statements;
CREATE TABLE t (id int PRIMARY KEY, k int, v numeric(10,2), j jsonb);
INSERT INTO t SELECT i, i % 10, i / 4.0, '{}' FROM generate_series(1, 20000) i;
VACUUM ANALYZE t;
SELECT penumbra.load('t');
CREATE FUNCTION counts() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
	SELECT count(*) INTO n FROM t WHERE v > 30;
	RETURN n;
END $$;
SELECT pg_stat_statements_reset();
SELECT penumbra.reset_statistics();
});

sub run_sessions
{
	my ($script, @options) = @_;
	my $file = $node->basedir . '/script.sql';

	unlink $file;
	append_to_file($file, $script);
	return $node->run_log([ 'pgbench', '--no-vacuum', '-c', '64', '-j', '2', '-f', $file, @options, 'postgres' ]);
}

# ---- each execution is counted, once

run_sessions(q{
SELECT k, sum(v) FROM t GROUP BY k;
SELECT id FROM t WHERE id = 7;
SELECT count(j) FROM t;
SELECT counts();
}, '-t', '10', '-M', 'prepared');
is($node->safe_psql('postgres', q{
	SELECT calls_in_vectors, calls_partly, calls_not, failed_calls FROM penumbra.statements s
	JOIN pg_stat_statements p USING (userid, dbid, queryid) WHERE query ~ 'GROUP BY k'}),
	'640|0|0|0', 'an aggregation of 64 sessions');
is($node->safe_psql('postgres', q{
	SELECT s.calls, calls_not, reason FROM penumbra.statements s
	JOIN pg_stat_statements p USING (userid, dbid, queryid) WHERE query ~ 'count.j. FROM'}),
	'640|640|column of type jsonb: t.j', 'a statement that is not run in vectors, and why');
is($node->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE s.calls = p.calls), count(*)
	FROM penumbra.statements s JOIN (SELECT userid, dbid, queryid, sum(calls) AS calls FROM pg_stat_statements GROUP BY 1, 2, 3) p
	USING (userid, dbid, queryid) WHERE p.calls >= 640}),
	'5|5', 'as many calls as pg_stat_statements counts, of the statement in a function too');
is($node->safe_psql('postgres', q{SELECT count FROM penumbra.refusals WHERE reason = 'column of type jsonb'}),
	'640', 'refusals are counted by execution');
$node->safe_psql('postgres', 'SET penumbra.mode = require; COPY (SELECT id, v FROM t) TO STDOUT');
is($node->safe_psql('postgres', q{SELECT rows FROM pg_stat_statements WHERE query ~ '^COPY' AND toplevel}),
	'20000', 'rows of COPY, of which pg_stat_statements learns from the tag');

# ---- cancels and terminations, in the middle of statements

$node->safe_psql('postgres', 'SELECT penumbra.reset_statistics()');
run_sessions(q{
SET plan_cache_mode = force_generic_plan;
PREPARE long AS SELECT sum(sqrt(a.id * b.id)) FROM t a JOIN t b USING (k) JOIN t c USING (k);
EXPLAIN EXECUTE long;
SET statement_timeout = 500;
EXECUTE long;
}, '-t', '1');
is($node->safe_psql('postgres', q{
	SELECT calls, failed_calls FROM penumbra.statements WHERE failed_calls > 0}),
	'64|64', 'canceled statements are counted');
my $session = $node->background_psql('postgres', on_error_stop => 0, on_error_die => 0);
my $pid = $session->query_safe('SELECT pg_backend_pid()');
$session->query_until(qr/began/, "\\echo began\nSELECT max(a.id + b.id) FROM t a JOIN t b USING (k);\n");
$node->poll_query_until('postgres', "SELECT query ~ 'max' FROM pg_stat_activity WHERE pid = $pid");
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 10000)");
is($node->safe_psql('postgres', q{SELECT count(*), sum(failed_calls) FROM penumbra.statements WHERE failed_calls = 1}),
	'1|1', 'a terminated one too');
eval { $session->quit; };

# ---- memory is bounded: what is used least goes

$node->safe_psql('postgres', 'SELECT penumbra.reset_statistics()');
$node->safe_psql('postgres', 'SELECT k, sum(v) FROM t GROUP BY k;' x 50);
$node->safe_psql('postgres', join(';', map { 'SELECT ' . join(',', map { "id + $_" } 1 .. $_) . ' FROM t WHERE id = 1' } 1 .. 400));
is($node->safe_psql('postgres', q{
	SELECT count(*) <= 200, count(*) > 150, max(calls) FROM penumbra.statements}),
	't|t|50', 'at most penumbra.max_statements, and those used more stay');
run_sessions(join('', map { 'SELECT ' . join(',', map { "id + $_" } 1 .. $_) . " FROM t WHERE id = 1;\n" } 1 .. 250), '-t', '1');
is($node->safe_psql('postgres', 'SELECT count(*) <= 200 FROM penumbra.statements'), 't', 'with 64 sessions');

# ---- names in another encoding

$node->safe_psql('postgres', q{CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0});
$node->safe_psql('latin', qq{
SET client_encoding = 'UTF8';
CREATE EXTENSION penumbra;
CREATE TYPE "m\xc3\xb6\xc3\xb6d" AS (fine text);
CREATE TABLE "t\xc3\xa4g" (m "m\xc3\xb6\xc3\xb6d");
INSERT INTO "t\xc3\xa4g" SELECT '(fine)' FROM generate_series(1, 20000);
SELECT count(m) FROM "t\xc3\xa4g";
});
is($node->safe_psql('postgres', q{
	SELECT reason FROM penumbra.statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = 'latin') AND reason ~ 'type'
	UNION SELECT reason FROM penumbra.refusals WHERE reason ~ 'm..d'}),
	qq{column of type "m??d"\ncolumn of type "m??d": "t?g".m}, 'names in another encoding');

# ---- auto_explain

my ($result, $log_begin) = ('', -s $node->logfile);
$node->safe_psql('postgres', q{
SET auto_explain.log_min_duration = 0;
SELECT count(j) FROM t;
});
SKIP:
{
	skip 'no hook before PostgreSQL 18', 1 if $node->pg_version < 18;
	like(slurp_file($node->logfile, $log_begin), qr/Penumbra: not used \(column of type jsonb: t\.j\)/,
		'auto_explain shows why');
}
SKIP:
{
	skip 'modules have no versions before PostgreSQL 18', 1 if $node->pg_version < 18;
	is($node->safe_psql('postgres', q{
		SELECT starts_with(m.version, e.extversion || '.') FROM pg_get_loaded_modules() m JOIN pg_extension e ON e.extname = m.module_name
		WHERE extname = 'penumbra'}), 't', 'the module has a version');
}
SKIP:
{
	skip 'waits have no names before PostgreSQL 17', 1 if $node->pg_version < 17;
	ok($node->poll_query_until('postgres', q{
		SELECT wait_event LIKE 'Penumbra%' FROM pg_stat_activity WHERE backend_type = 'penumbra launcher'}), 'waits have names');
}

# ---- after a crash all is counted from zero on

$node->safe_psql('postgres', 'SELECT k, sum(v) FROM t GROUP BY k');
$session = $node->background_psql('postgres', on_error_stop => 0, on_error_die => 0);
my $sleeper = $node->background_psql('postgres', on_error_stop => 0, on_error_die => 0);
$sleeper->query_until(qr/began/, "\\echo began\nSELECT pg_sleep(600);\n");
kill 'KILL', $session->query_safe('SELECT pg_backend_pid()');
eval { $sleeper->quit; };		# which the server ends when it restarts
eval { $session->quit; };
$node->poll_query_until('postgres', 'SELECT true') or die 'the server did not come back';
is($node->safe_psql('postgres', 'SELECT coalesce(max(calls), 0) < 5 FROM penumbra.statements'), 't', 'after a crash');

# ---- without a table nothing is counted, and nothing fails

$node->append_conf('postgresql.conf', 'penumbra.max_statements = 0');
$node->restart;
is($node->safe_psql('postgres', q{
	SELECT sum(v) FROM t;
	SELECT penumbra.reset_statistics();
	SELECT count(*) FROM penumbra.statements}) =~ s/.*\n//sr, '0', 'penumbra.max_statements = 0');
$node->stop;
done_testing();
