# A hot standby has a cache of its own; it stays right through replay, conflicts and promotion.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '64MB'
penumbra.auto_load = off
autovacuum = off
});
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION penumbra;
	CREATE EXTENSION penumbra_test;
	CREATE TABLE t (id int, n int, filler char(2000)) WITH (fillfactor = 90);
	INSERT INTO t SELECT i, 1, 'x' FROM generate_series(1, 3000) i;
});
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = -1');
$standby->start;

sub catch_up { $primary->wait_for_catchup($standby); }
sub ask
{
	my ($query) = @_;
	return $standby->safe_psql('postgres', $query);
}
my $sum = q{SET penumbra.mode = 'require'; SELECT sum(n) FROM t};
my $from_cache = q{SELECT pages_from_cache > 0 FROM penumbra.explain_coverage('t', '{n}')};
my $verify = q{SELECT coalesce(sum(mismatches), 0) FROM penumbra.verify('t')};

# Only the visibility map counts here: before vacuum nothing can be cached.
catch_up();
my ($result, $stdout, $stderr) = $standby->psql('postgres', q{SELECT penumbra.load('t', '{id, n}')});
like($stderr, qr/pages of relation "t" are not cached .*Vacuum the table on the primary/s, 'a load says what is left out');
is(ask($from_cache), 'f', 'nothing is all-visible yet');
like(ask(q{SELECT remedy FROM penumbra.staleness}), qr/^VACUUM t/, 'and what helps');
$primary->safe_psql('postgres', 'VACUUM t');
catch_up();
ask(q{SELECT penumbra.load('t', '{id, n}')});
is(ask($from_cache), 't', 'cached after the vacuum was replayed');
is(ask($sum), '3000', 'answer from the cache');

# Replayed changes are seen, page by page.
$primary->safe_psql('postgres', 'UPDATE t SET n = 100 WHERE id = 10');
catch_up();
is(ask($sum), '3099', 'a replayed update is seen');
is(ask($from_cache), 't', 'the other pages are still cached');
is(ask(q{SELECT pages_row_by_row FROM penumbra.explain_coverage('t', '{n}')}), '0', 'rows are not told from others here');
$primary->safe_psql('postgres', 'VACUUM t');
catch_up();
is(ask($sum), '3099', 'after vacuum');
ask(q{SELECT penumbra.refresh('t')});
is(ask($sum), '3099', 'after refresh');
is(ask($verify), '0', 'verified');

# An old snapshot on the standby keeps its answer while the primary goes on.
my $old = $standby->background_psql('postgres');
$old->query_safe(q{SET penumbra.mode = 'require'});
$old->query_safe(q{BEGIN ISOLATION LEVEL REPEATABLE READ});
is($old->query_safe('SELECT sum(n) FROM t'), '3099', 'old snapshot');
$primary->safe_psql('postgres', 'UPDATE t SET n = 7 WHERE id <= 100');
catch_up();
is($old->query_safe('SELECT sum(n) FROM t'), '3099', 'old snapshot after an update');
is(ask($sum), '3600', 'new snapshot');
$old->query_safe('COMMIT');
$old->quit;

# The worker does not read again what only a vacuum of the primary could make cacheable.
$primary->safe_psql('postgres', 'UPDATE t SET n = n WHERE id % 9 = 0');
catch_up();
my ($loads, $chunks_loaded) = split /\|/, ask('SELECT loads, chunks_loaded FROM penumbra.activity');
ask($sum) for 1 .. 20;
$standby->adjust_conf('postgresql.conf', 'penumbra.auto_load', 'on');
$standby->reload;
ok($standby->poll_query_until('postgres', "SELECT loads > $loads FROM penumbra.activity"), 'the worker looks at the table');
is(ask('SELECT chunks_loaded FROM penumbra.activity'), $chunks_loaded, 'and leaves it');
$primary->safe_psql('postgres', 'VACUUM t');
catch_up();
ask($sum);
ok($standby->poll_query_until('postgres', "SELECT chunks_loaded > $chunks_loaded FROM penumbra.activity"),
	'until the vacuum is replayed');
$standby->adjust_conf('postgresql.conf', 'penumbra.auto_load', 'off');
$standby->reload;

# Rewritten and dropped relations.
$primary->safe_psql('postgres', 'VACUUM FULL t; VACUUM t;');
catch_up();
is($standby->safe_psql('postgres', 'SELECT sum(n) FROM t'), '3600', 'after a rewrite');
ask(q{SELECT penumbra.load('t', '{id, n}')});
is(ask($sum), '3600', 'loaded again');
is(ask(q{SELECT count(*) FROM penumbra.get_tables()}), '1', 'the old file is forgotten');

# A standby replays no lock on an extension: the first session there that finds it dropped forgets what is cached.
$primary->safe_psql('postgres', q{CREATE DATABASE other});
$primary->safe_psql('other', q{
	CREATE EXTENSION penumbra;
	CREATE TABLE o AS SELECT i AS a FROM generate_series(1, 100000) i;
	VACUUM ANALYZE o;
});
catch_up();
my $others = q{SELECT count(*) FROM penumbra.get_tables() JOIN pg_database d ON d.oid = datid WHERE datname = 'other'};
my $explain = 'EXPLAIN SELECT sum(a) FROM o';
$standby->safe_psql('other', q{SELECT penumbra.load('o')});
my $other = $standby->background_psql('other');
like($other->query_safe($explain), qr/Penumbra/, 'served');
$primary->safe_psql('other', 'DROP EXTENSION penumbra');
catch_up();
unlike($other->query_safe($explain), qr/Penumbra/, 'not served without the extension');
is(ask($others), '0', 'and forgotten');

# Nor does a lock keep it from being dropped while columns are loaded.
$primary->safe_psql('other', 'CREATE EXTENSION penumbra');
catch_up();
my $key = ask(q{SELECT penumbra_test.stop_point_key('load-before-publish')});
my $keeper = $standby->background_psql('other');
$keeper->query_safe("SELECT pg_advisory_lock($key)");
my $load = $standby->background_psql('other', on_error_stop => 0);
$load->query_safe(q{SET penumbra.stop_points = 'load-before-publish'});
$load->query_until(qr/begun/, "\\echo begun\nSELECT penumbra.load('o');\n");
my $state = q{FROM pg_stat_activity WHERE query LIKE '%load(''o'')%' AND pid <> pg_backend_pid()};
$standby->poll_query_until('postgres', "SELECT wait_event = 'advisory' $state") or die 'the load does not stop';
$primary->safe_psql('other', 'DROP EXTENSION penumbra');
catch_up();
unlike($other->query_safe($explain), qr/Penumbra/, 'dropped during a load');
$keeper->quit;
$standby->poll_query_until('postgres', "SELECT state = 'idle' $state") or die 'the load does not end';
is(ask($others), '0', 'which leaves nothing');
$load->query('SELECT 1');
like($load->{stderr}, qr/was dropped while columns were loaded/, 'and fails');
$load->quit;
$other->quit;

# Promotion: the cache stays and stays right.
$standby->promote;
is(ask($sum), '3600', 'after promotion');
ask('UPDATE t SET n = 1');
is(ask($sum), '3000', 'written after promotion');
ask('VACUUM t');
ask(q{SELECT penumbra.refresh('t')});
is(ask($sum), '3000', 'refreshed after promotion');
is(ask($from_cache), 't', 'from the cache');
is(ask($verify), '0', 'verified after promotion');

$standby->stop;
$primary->stop;
done_testing();
