# penumbra.auto_load: columns that queries ask for are loaded, refreshed and made all-visible in the background.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '64MB'
wal_level = replica
autovacuum_naptime = '1d'
max_prepared_transactions = 1
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra;
	CREATE TABLE t AS SELECT i AS a, 't' || i % 100 AS s, 0 AS unused FROM generate_series(1, 500000) i;
});
my $sum = q{SELECT count(*), sum(a) FROM t};

# From 16 on bulk inserts extend the table by more pages than they fill: those are cached, too.
is($node->safe_psql('postgres', $sum), '500000|125000250000', 'the first query runs in PostgreSQL');
$node->poll_query_until('postgres',
	q{SELECT coverage_percent = 100 FROM penumbra.columns WHERE column_name = 'a'})
  or die 'the wanted column was not loaded';
pass('the wanted column is loaded');
is($node->safe_psql('postgres', q{SELECT string_agg(column_name, ',') FROM penumbra.columns}), 'a', 'and no other');
is($node->safe_psql('postgres', "SET penumbra.mode = 'require'; $sum"), '500000|125000250000', 'answer from the cache');

# never vacuumed before: the worker does it, so that the visibility map proves the pages; from 19 on the query above has
# marked them already
$node->poll_query_until('postgres',
	q{SELECT vacuums >= 1 OR current_setting('server_version_num')::int >= 190000 FROM penumbra.activity})
  or die 'the table was not vacuumed';
pass('the table was vacuumed, where it needs that');
$node->poll_query_until('postgres',
	q{SELECT pages_from_heap = 0 FROM penumbra.explain_coverage('t', '{a}')}) or die 'not served';
is($node->safe_psql('postgres', q{SELECT sum(mismatches) FROM penumbra.verify('t')}), '0', 'verified');

# stale chunks and new pages are loaded again once queries meet them
$node->safe_psql('postgres', q{
	UPDATE t SET a = a + 1 WHERE a % 10 = 0;
	INSERT INTO t SELECT 1, 'new', 0 FROM generate_series(1, 100000);
});
$node->safe_psql('postgres', 'VACUUM t');
my $fresh = $node->safe_psql('postgres', "SET penumbra.mode = 'off'; $sum");
is($node->safe_psql('postgres', "SET penumbra.mode = 'require'; $sum"), $fresh, 'right while stale');
$node->poll_query_until('postgres',
	q{SELECT pages_from_heap < 120 FROM penumbra.explain_coverage('t', '{a}')})
  or die 'stale chunks were not refreshed';
is($node->safe_psql('postgres', "SET penumbra.mode = 'require'; $sum"), $fresh, 'right when refreshed');

# nobody waits for the worker
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q{CREATE EXTENSION penumbra; CREATE TABLE o AS SELECT i FROM generate_series(1, 100000) i});
$node->safe_psql('other', 'SELECT sum(i) FROM o');
$node->safe_psql('postgres', 'DROP DATABASE other');
pass('a database with a worker can be dropped');
is($node->safe_psql('postgres', q{SELECT count(*) FROM penumbra.get_tables()}), '1', 'its tables are forgotten');

# A transaction that is older than all rows: they are cached as soon as their inserter has committed. What is updated
# cannot be while somebody could still see the rows before; the view says who that is, and then that nobody vacuums.
$node->safe_psql('postgres', q{
	BEGIN;
	SELECT pg_current_xact_id();
	PREPARE TRANSACTION 'holder';
	CREATE TABLE e WITH (autovacuum_enabled = off) AS SELECT i AS a FROM generate_series(1, 300000) i;
	SELECT sum(a) FROM e;
});
my $rows_served = q{SELECT rows_from_cache FROM penumbra.explain_coverage('e', '{a}')};
$node->poll_query_until('postgres', $rows_served, '300000') or die 'rows of an old horizon were not loaded';
$node->safe_psql('postgres', q{
	INSERT INTO e SELECT 1 FROM generate_series(1, 100000);
	SELECT sum(a) FROM e;
});
$node->poll_query_until('postgres', $rows_served, '400000') or die 'new rows were not loaded';
pass('rows that no vacuum can make all-visible are cached');
is($node->safe_psql('postgres', q{SET penumbra.mode = 'require'; SELECT sum(a) FROM e}), '45000250000', 'right');
is($node->safe_psql('postgres', q{SELECT sum(mismatches) FROM penumbra.verify('e')}), '0', 'verified');
sub poll_reason
{
	my $reason = shift;
	return $node->poll_query_until('postgres', qq{
		SELECT reason LIKE '$reason' FROM penumbra.explain_coverage('e', '{a}'), penumbra.staleness
		WHERE relid = 'e'::regclass});
}
$node->safe_psql('postgres', 'UPDATE e SET a = 0 WHERE a % 3 = 0');
$node->safe_psql('postgres', q{SELECT FROM penumbra.explain_coverage('e', '{a}')}) for 1 .. 40;
my $loads = $node->safe_psql('postgres', 'SELECT loads FROM penumbra.activity');
$node->poll_query_until('postgres',
	qq{SELECT loads > $loads + 1 FROM penumbra.activity, penumbra.explain_coverage('e', '{a}')}) or die 'no worker came';
is($node->safe_psql('postgres', q{SELECT pages_row_by_row > 1000 FROM penumbra.explain_coverage('e', '{a}')}), 't',
	'chunks are not loaded in vain');
ok(poll_reason(q{transaction ''holder'' is prepared%}), 'who holds the horizon is named');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'holder'});
ok(poll_reason('autovacuum is off%'), 'and that autovacuum is off');
$node->safe_psql('postgres', 'DROP TABLE e');

# Few pages of a chunk have new rows: these get a patch, once scans have lost as much as it costs, and no vacuum.
$node->safe_psql('postgres', q{
	CREATE TABLE hot (id int, n int, filler char(200)) WITH (fillfactor = 90, autovacuum_enabled = off);
	INSERT INTO hot SELECT i, 0, 'x' FROM generate_series(1, 60000) i;
	VACUUM hot;
	SELECT penumbra.load('hot', '{id, n}');
	UPDATE hot SET n = 1 WHERE id % 3000 = 7;
});
is($node->safe_psql('postgres', q{SELECT pages_row_by_row, chunks FROM penumbra.explain_coverage('hot', '{id, n}')}), '20|2',
	'pages with new rows are proven by row');
$node->poll_query_until('postgres',
	q{SELECT pages_row_by_row = 0 AND chunks = 4 FROM penumbra.explain_coverage('hot', '{id, n}')})
  or die 'the pages got no patch';
is($node->safe_psql('postgres', q{SET penumbra.mode = 'require'; SELECT count(*), sum(n) FROM hot}), '60000|20',
	'right with patches');
is($node->safe_psql('postgres', q{SELECT sum(mismatches) FROM penumbra.verify('hot')}), '0', 'verified');
is($node->safe_psql('postgres', q{SELECT heap_pages FROM penumbra.staleness WHERE relid = 'hot'::regclass}), '0',
	'and nothing is stale');
$node->safe_psql('postgres', 'DROP TABLE hot');

# off: nothing is loaded any more
$node->append_conf('postgresql.conf', 'penumbra.auto_load = off');
$node->reload;
$node->safe_psql('postgres', q{SELECT count(DISTINCT s) FROM t});
sleep 2;
is($node->safe_psql('postgres', q{SELECT string_agg(column_name, ',') FROM penumbra.columns}), 'a', 'off means off');
is($node->safe_psql('postgres', q{SELECT errors FROM penumbra.activity}), '0', 'no errors');
# What is stale is refreshed, though the counts of what scans have read from the table begin anew meanwhile.
$node->safe_psql('postgres', q{
	INSERT INTO t SELECT 1, 'new', 0 FROM generate_series(1, 100000);
	SELECT sum(a) FROM t;
	SELECT penumbra.reset_statistics();
});
my $unserved = q{FROM penumbra.staleness WHERE relid = 't'::regclass};
is($node->safe_psql('postgres', "SELECT heap_pages > 400 $unserved"), 't', 'stale');
$node->append_conf('postgresql.conf', 'penumbra.auto_load = on');
$node->reload;
ok($node->poll_query_until('postgres', "SELECT heap_pages < 120 $unserved"), 'refreshed after a reset of statistics');

# wal_level = minimal: pages of a relation's first transaction have no LSN; vacuum makes them cacheable
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\npenumbra.auto_load = on");
$node->restart;
$node->safe_psql('postgres', 'CREATE TABLE m AS SELECT i AS a FROM generate_series(1, 300000) i');
is($node->safe_psql('postgres', 'SELECT sum(a) FROM m'), '45000150000', 'without LSNs');
$node->poll_query_until('postgres',
	q{SELECT pages_from_heap < 100 FROM penumbra.explain_coverage('m', '{a}')}) or die 'not served';
is($node->safe_psql('postgres', q{SET penumbra.mode = 'require'; SELECT sum(a) FROM m}), '45000150000', 'from the cache');
$node->safe_psql('postgres', 'UPDATE m SET a = 0 WHERE a = 300000');
is($node->safe_psql('postgres', q{SET penumbra.mode = 'require'; SELECT sum(a) FROM m}), '44999850000', 'after an update');

# What is frozen as it is copied is never vacuumed: who loads it by hand is told.
$node->safe_psql('postgres', q{
	BEGIN; CREATE TABLE f (a int); COPY f FROM PROGRAM 'seq 1 300000' WITH (FREEZE); COMMIT;
});
my (undef, undef, $note) = $node->psql('postgres', q{SELECT penumbra.load('f')});
like($note, qr/NOTICE:  \d+ pages of relation "f" are not cached because of writes without WAL/, 'a note');
is($node->safe_psql('postgres', q{SELECT rows FROM penumbra.tables WHERE relid = 'f'::regclass}), '0', 'of all that have rows');

# Of two tables only one fits: the one that is used stays, until the other is wanted more.
$node->append_conf('postgresql.conf', "penumbra.memory = '16MB'\nautovacuum = off");
$node->restart;
$node->safe_psql('postgres', 'DROP TABLE t, m, f');
$node->safe_psql('postgres', qq{
	CREATE TABLE $_ AS SELECT i AS a, encode(sha512(('$_' || i)::bytea), 'base64') AS u FROM generate_series(1, 110000) i;
}) foreach 'one', 'two';
$node->safe_psql('postgres', "VACUUM ANALYZE $_") foreach 'one', 'two';
sub activity { return $node->safe_psql('postgres', "SELECT $_[0] FROM penumbra.activity"); }
sub heap_pages
{
	return $node->safe_psql('postgres', "SELECT pages_from_heap FROM penumbra.explain_coverage('$_[0]', '{u}')");
}
# Asks so often, and waits until the worker has done what it can.
sub want
{
	my ($table, $times) = @_;
	is($node->safe_psql('postgres', "SELECT count(*), sum(length(u)) FROM $table"), '110000|9790000', $table) foreach 1 .. $times;
	$node->poll_query_until('postgres', q{SELECT wanted_columns = 0 FROM penumbra.activity}) or die;
}
want('one', 2);
is(heap_pages('one'), '0', 'the first fits');
want($_, 1) foreach qw(two one two one);
my $loaded = activity('chunks_loaded');
foreach (1 .. 4)
{
	want($_, 1) foreach qw(two one);
}
is(activity('chunks_loaded'), $loaded, 'two tables that are used equally do not take turns');
is(heap_pages('one'), '0', 'the first stays');
# What found no memory is not read again in vain. (To plan a query is a wish, and reads nothing itself.)
sub pages_read
{
	# who ends says what he has read
	$node->poll_query_until('postgres', q{
		SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type IN ('client backend', 'penumbra worker')
	}) or die;
	return $node->safe_psql('postgres', q{
		SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'two'
	});
}
my $pages = pages_read();
foreach (1 .. 2)
{
	$node->safe_psql('postgres', 'EXPLAIN SELECT count(*), sum(length(u)) FROM two');
	$node->poll_query_until('postgres', q{SELECT wanted_columns = 0 FROM penumbra.activity}) or die;
	want('one', 1);
}
cmp_ok(pages_read() - $pages, '<', 100, 'a wish without memory reads nothing');
is(activity('chunks_loaded'), $loaded, 'nor does it load');
for (my $tries = 0; heap_pages('two') > 0 && $tries < 20; $tries++)
{
	want('two', 4);
}
is(heap_pages('two'), '0', 'the second, when it is wanted more');
$loaded = activity('chunks_loaded');
foreach (1 .. 2)
{
	want($_, 1) foreach qw(one two);
}
is(activity('chunks_loaded'), $loaded, 'then it stays');

# After a restart the worker loads what was used, the most useful first, before anybody asks.
foreach my $mode ('fast', 'immediate')
{
	$node->stop($mode);
	$node->start;
	$node->poll_query_until('postgres', q{SELECT wanted_columns = 0 AND chunks_loaded > 0 FROM penumbra.activity}) or die;
	is($node->safe_psql('postgres', q{SELECT sum(hits) FROM penumbra.columns}), '0', 'before a query');
	is(heap_pages('two'), '0', "loaded after a stop, $mode");
}

# To count rows is to use a column, too: the smallest.
$node->safe_psql('postgres', q{CREATE TABLE n AS SELECT 'n' || i AS a, i % 9 AS b FROM generate_series(1, 20000) i});
$node->safe_psql('postgres', 'VACUUM n');
$node->safe_psql('postgres', q{SELECT penumbra.load('n')});
$node->safe_psql('postgres', q{SET penumbra.mode = 'require'; SELECT count(*) FROM n}) foreach 1 .. 5;
my $n = $node->safe_psql('postgres', q{SELECT 'n'::regclass::oid});
$node->stop;
is(join(',', slurp_file($node->data_dir . '/penumbra/wanted') =~ /^\d+ $n (\d+ \d+)$/mg), '1 1,2 5', 'rows are counted');
$node->start;

# Pages whose values are too large are not loaded again and again, until they change.
$node->safe_psql('postgres', q{
	CREATE TABLE large (id int, filler char(500), u text);
	ALTER TABLE large ALTER COLUMN u SET STORAGE EXTERNAL;
	INSERT INTO large SELECT i, 'x', CASE WHEN i > 2000 THEN repeat('large ', 10000) ELSE 'small' END FROM generate_series(1, 2300) i;
});
$node->safe_psql('postgres', 'VACUUM large');
$node->safe_psql('postgres', q{SELECT penumbra.load('large')});
cmp_ok(heap_pages('large'), '>', 10, 'pages with large values are left');
sub read_large { $node->safe_psql('postgres', q{SET penumbra.mode = 'require'; SELECT sum(length(u)) FROM large}); }
$loaded = activity('chunks_loaded');
foreach (1 .. 3)
{
	my $loads = activity('loads');
	read_large();
	$node->poll_query_until('postgres', "SELECT loads > $loads FROM penumbra.activity") or die;
}
is(activity('chunks_loaded'), $loaded, 'the worker looks at them and loads nothing');
is($node->safe_psql('postgres', q{SELECT stale_at IS NULL FROM penumbra.staleness WHERE relname = 'large'}), 't', 'which is no staleness');
$node->safe_psql('postgres', q{UPDATE large SET u = 'small now' WHERE id > 2000});
$node->safe_psql('postgres', 'VACUUM large');
read_large();
$node->poll_query_until('postgres', q{SELECT coverage_percent = 100 FROM penumbra.tables WHERE relname = 'large'}) or die;
is(heap_pages('large'), '0', 'they are when they have changed');

$node->stop;
done_testing();
