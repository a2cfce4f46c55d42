# Each kind of row of penumbra.advice(): what makes it appear, and that the statement in it makes it go.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '16MB'
penumbra.auto_load = off
penumbra.max_threads = 4
autovacuum = off
jit = off
});
$node->start;
sub ask { my ($query) = @_; return $node->safe_psql('postgres', $query); }
sub advised
{
	my ($kind) = @_;
	return ask("SELECT object, remedy FROM penumbra.advice() WHERE kind = '$kind' ORDER BY 1");
}
# Takes the statements in the rows.
sub take
{
	my ($kind) = @_;
	my $remedies = ask("SELECT remedy FROM penumbra.advice() WHERE kind = '$kind'");

	ask($_) foreach split /; |\n/, $remedies;
}
sub goes
{
	my ($kind, $name) = @_;

	take($kind);
	is(advised($kind), '', $name);
}

ask(q{
CREATE EXTENSION penumbra;
CREATE TABLE t AS SELECT i AS a, i % 7 AS b, '{}'::jsonb AS j FROM generate_series(1, 100000) i;
CREATE TABLE "t (a, ""b"")" AS SELECT i AS a, i % 7 AS "a, b" FROM generate_series(1, 100000) i;
CREATE TABLE wide AS SELECT i, md5(i::text) AS c, md5((i + 1)::text) AS d, md5((i + 2)::text) AS e, md5((i + 3)::text) AS f
	FROM generate_series(1, 150000) i;
CREATE SCHEMA other;
VACUUM ANALYZE;
});
is(ask('SELECT count(*) FROM penumbra.advice()'), 0, 'nothing to say of an idle server');

# ---- columns that statements missed, and that are still not cached

ask('SELECT sum(a + b) FROM t; SELECT max(b) FROM t;');
is(advised('not cached'), "public.t|SELECT penumbra.load('public.t', '{a,b}')", 'columns that were not cached');
ask("SELECT penumbra.load('t', '{a}')");
is(advised('not cached'), "public.t|SELECT penumbra.load('public.t', '{b}')", 'those that still are not');
goes('not cached', 'cached now');
ask('SELECT sum("a, b") FROM "t (a, ""b"")"');
is(advised('not cached'), q{public."t (a, ""b"")"|SELECT penumbra.load('public."t (a, ""b"")"', '{"a, b"}')}, 'names that need quotes');
goes('not cached', 'cached now, too');
ask(q{CREATE TABLE other.t AS SELECT * FROM t; SELECT penumbra.unload('t'), penumbra.reset_statistics(); SELECT max(b) FROM other.t});
is(advised('not cached'), '', 'no table is guessed where two have the name');
ask('DROP TABLE other.t; SELECT max(b) FROM t;');
isnt(advised('not cached'), '', 'the other one');
goes('not cached', 'is cached');

# ---- what PostgreSQL evaluates

ask('SELECT penumbra.reset_statistics()');
ask('SELECT count(j) FROM t');
like(ask(q{SELECT reason, total_exec_time > 0 FROM penumbra.advice() WHERE kind = 'left to PostgreSQL'}),
	qr/^column of type jsonb: t\.j\|t$/, 'a type that the engine has not');
like(ask(ask(q{SELECT remedy FROM penumbra.advice() WHERE kind = 'left to PostgreSQL'})), qr/^10\|-?\d+\|1\|/, 'the statement is shown');
ask('SELECT penumbra.reset_statistics()');
is(advised('left to PostgreSQL'), '', 'nothing is left since then');

# ---- stale tables

ask(q{SELECT penumbra.load('t', '{a,b}'); DELETE FROM t WHERE a % 5 = 0; SELECT sum(a) FROM t;});
is(advised('stale'), q{public.t|SELECT penumbra.refresh('public.t')}, 'a table whose rows were deleted');
goes('stale', 'refreshed');

# ---- statements that spill

ask(q{SET work_mem = '64kB'; SET penumbra.mode = prefer; SELECT count(*) FROM (SELECT a, sum(b) FROM t GROUP BY a OFFSET 0) x});
like(advised('spilled'), qr/\|ALTER ROLE \S+ SET work_mem = '\d+kB'$/, 'a query that had too little memory');
take('spilled');
ask(q{SELECT penumbra.reset_statistics(); SET penumbra.mode = prefer; SELECT count(*) FROM (SELECT a, sum(b) FROM t GROUP BY a OFFSET 0) x});
is(advised('spilled'), '', 'it has enough');

# ---- threads

is(advised('one thread'), '', 'queries have threads');
ask('ALTER SYSTEM SET max_parallel_workers_per_gather = 0');
$node->reload;
is(advised('one thread'), '|ALTER SYSTEM SET max_parallel_workers_per_gather = 2; SELECT pg_reload_conf()', 'they have none');
goes('one thread', 'they have some');
ask('ALTER SYSTEM SET penumbra.threads_per_query = 0');
$node->reload;
goes('one thread', 'by the setting of Penumbra');

# ---- settings that contradict others

ask(q{ALTER SYSTEM SET penumbra.memory_target = '32MB'});
$node->reload;
isnt(advised('memory target'), '', 'more than there is');
goes('memory target', 'as much as there is');
foreach my $setting ('compute_query_id', 'penumbra.track_statements')
{
	ask("ALTER SYSTEM SET $setting = off");
	$node->reload;
	isnt(advised('not counted'), '', "$setting is off");
	goes('not counted', "$setting is on");
}

# ---- what statements missed, and no worker loads

is(advised('no worker'), '', 'no column is missed');
ask(q{SELECT penumbra.unload('t'); SELECT sum(a) FROM t});
isnt(advised('no worker'), '', 'no worker loads what is missed');
goes('no worker', 'one does');
ask('ALTER SYSTEM SET penumbra.auto_load = off');
$node->reload;

# ---- memory that is too small, with and without a target

sub fill { ask(q{SELECT penumbra.load('t', '{a,b}'); SELECT penumbra.load('wide');}); }
ask('ALTER SYSTEM RESET penumbra.memory_target');
fill();
is(advised('memory'), q{|ALTER SYSTEM SET penumbra.memory = '32MB'}, 'a table larger than the memory');
like(advised('disk cache'), qr/^\|ALTER SYSTEM SET penumbra.disk_cache_size = '\d+MB'$/, 'and no disk');
take('disk cache');
take('memory');
$node->restart;
fill();
is(advised('disk cache'), '', 'the disk has the rest');
is(advised('memory'), '', 'and the memory is enough');
ask(q{ALTER SYSTEM SET penumbra.memory_target = '16MB'});
$node->reload;
fill();
is(advised('memory'), '|ALTER SYSTEM SET penumbra.memory_target = 0; SELECT pg_reload_conf()', 'a target that is too small');
take('memory');
fill();
is(advised('memory'), '', 'there is more memory');

# ---- rights

ask('CREATE ROLE nobody_ LOGIN; CREATE ROLE monitor_ LOGIN IN ROLE pg_monitor;');
my ($status, $output, $errors) = $node->psql('postgres', 'SELECT * FROM penumbra.advice()', extra_params => [ '-U', 'nobody_' ]);
like($errors, qr/permission denied for function advice/, 'not for everybody');
($status, $output, $errors) = $node->psql('postgres', 'SELECT count(*) >= 0 FROM penumbra.advice()', extra_params => [ '-U', 'monitor_' ]);
is("$output$errors", 't', 'for members of pg_monitor');

$node->stop;
done_testing();
