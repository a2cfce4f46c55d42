# Tables that CREATE TABLE AS makes past the buffers: WAL alone brings them back, standbys and logical decoding see them.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 'logical', extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '64MB'
penumbra.mode = 'prefer'
penumbra.auto_load = off
autovacuum = off
wal_level = replica
});
$node->start;
sub ask { my ($query) = @_; return $node->safe_psql('postgres', $query); }
sub sum_of { my ($table) = @_; return "SELECT count(*), sum(a), count(DISTINCT s) FROM $table"; }
my $rows = 'SELECT a, s FROM t WHERE a > 0';
ask(q{
	CREATE EXTENSION penumbra;
	CREATE TABLE t AS SELECT i AS a, 't' || i % 100 AS s FROM generate_series(1, 100000) i;
	VACUUM ANALYZE t;
	SELECT penumbra.load('t');
});
like(ask("EXPLAIN (COSTS OFF) CREATE TABLE x AS $rows"), qr/^Custom Scan \(Penumbra/, 'the plan is ours');
my $expected = ask(sum_of('t'));
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;

# Nothing of the file is needed: its pages are in WAL.
ask('CHECKPOINT');
ask("CREATE TABLE logged AS $rows");
my $path = $node->data_dir . '/' . ask(q{SELECT pg_relation_filepath('logged')});
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', sum_of('logged')), $expected, 'on a standby');
$node->stop('immediate');
truncate($path, 0) or die "$path: $!";
$node->start;
is(ask(sum_of('logged')), $expected, 'from WAL alone');

# Checkpoints while pages are written
my $checkpoints = $node->background_psql('postgres', on_error_stop => 0);
$checkpoints->query_until(qr/begins/, q{\echo begins
	SELECT 'CHECKPOINT' FROM generate_series(1, 2000) \gexec
});
ask("CREATE TABLE made$_ AS $rows; CREATE UNLOGGED TABLE unlogged$_ AS $rows") foreach 1 .. 10;
$node->stop('immediate');
eval { $checkpoints->quit };
$node->start;
is(ask(sum_of("made$_")), $expected, "beside checkpoints, $_") foreach 1 .. 10;
is(ask('SELECT count(*) FROM unlogged1'), '0', 'what is not logged is empty after a crash');

# A clean end keeps what is not logged; checksums are right in all files.
ask("CREATE UNLOGGED TABLE kept AS $rows");
$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'checksums');
$node->append_conf('postgresql.conf', 'wal_level = logical');
$node->start;
is(ask(sum_of('kept')), $expected, 'what is not logged, after a clean end');

# A table that is decoded
ask(q{SELECT pg_create_logical_replication_slot('slot', 'test_decoding')});
ask("CREATE TABLE decoded AS $rows");
is(ask(q{SELECT count(*) FROM pg_logical_slot_get_changes('slot', NULL, NULL) WHERE data LIKE 'table public.decoded: INSERT%'}),
	'100000', 'rows are decoded');
is(ask(sum_of('decoded')), $expected, 'and are there');
ask(q{SELECT pg_drop_replication_slot('slot')});

# Files without WAL, which the end of the transaction syncs
$standby->stop;
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0");
$node->restart;
ask("CREATE TABLE minimal AS $rows");
$node->stop('immediate');
$node->start;
is(ask(sum_of('minimal')), $expected, 'with wal_level minimal');
$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'checksums at the end');

done_testing();
