# Crashes: the cache is empty after them, whole, and usable; nothing is lost.
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
penumbra.auto_load = off
wal_level = replica
restart_after_crash = on
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra;
	CREATE EXTENSION penumbra_test;
	CREATE TABLE t AS SELECT i AS a, 't' || i % 100 AS s, md5(i::text)::uuid AS u FROM generate_series(1, 300000) i;
});

my $sum = q{SELECT count(*), sum(a), count(DISTINCT s) FROM t};
my $expected = "300000|45000150000|100";
my $used = q{SELECT used_bytes FROM penumbra.memory WHERE size_class = 'all'};

sub require_cache
{
	my ($query) = @_;
	return $node->safe_psql('postgres', "SET penumbra.mode = 'require'; $query");
}

is($node->safe_psql('postgres', q{SELECT penumbra.load('t')}) > 0, 1, 'loaded');
is(require_cache($sum), $expected, 'answer from the cache');
my $full = $node->safe_psql('postgres', $used);
cmp_ok($full, '>', 0, 'memory is in use');

# A backend that is terminated while it loads gives back what it held.
$node->safe_psql('postgres', q{SELECT penumbra.unload('t')});
sub load_and_stop
{
	my ($stop_point) = @_;
	my $keeper = $node->background_psql('postgres', on_error_stop => 0);
	$keeper->query_safe("SELECT pg_advisory_lock(penumbra_test.stop_point_key('$stop_point'))");
	my $loader = $node->background_psql('postgres', on_error_stop => 0);
	$loader->query_until(qr/begin/, "SET penumbra.stop_points = '$stop_point';\n\\echo begin\nSELECT penumbra.load('t');\n");
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM penumbra.progress p JOIN pg_stat_activity a USING (pid) WHERE a.wait_event_type = 'Lock'})
		or die 'the load did not reach the stop point';
	return ($keeper, $loader);
}

my ($keeper, $loader) = load_and_stop('load-after-chunk');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM penumbra.progress});
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM penumbra.progress})
  or die 'the slot was not freed';
pass('a terminated load gives its slot back');
$keeper->quit;
is($node->safe_psql('postgres', q{SELECT sum(mismatches) FROM penumbra.verify('t')}), '0', 'what it published is whole');
$node->safe_psql('postgres', q{SELECT penumbra.unload('t')});
is($node->safe_psql('postgres', $used), '0', 'no memory is lost');
eval { $loader->quit };

# SIGKILL of a loading backend: crash restart, empty cache.
($keeper, $loader) = load_and_stop('load-before-publish');
my $pid = $node->safe_psql('postgres', q{SELECT pid FROM penumbra.progress});
kill 'KILL', $pid;
eval { $keeper->quit };
eval { $loader->quit };
my $is_back;    # a psql that is refused may end before it has read its query: IPC::Run dies of that
$is_back = eval { $node->poll_query_until('postgres', 'SELECT 1', '1') } until defined $is_back;
$is_back or die 'the server did not come back';
is($node->safe_psql('postgres', $used), '0', 'the cache is empty after a crash');
is($node->safe_psql('postgres', q{SELECT count(*) FROM penumbra.progress}), '0', 'nobody loads after a crash');
is($node->safe_psql('postgres', $sum), $expected, 'answer from the heap');
is($node->safe_psql('postgres', q{SELECT penumbra.load('t')}) > 0, 1, 'loaded again');
is(require_cache($sum), $expected, 'answer from the cache again');
is($node->safe_psql('postgres', $used), $full, 'as much memory as before');

# Immediate shutdown: recovery, empty cache.
$node->safe_psql('postgres', q{UPDATE t SET a = a + 1 WHERE a <= 1000});
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $sum), "300000|45000151000|100", 'the update survived');
is($node->safe_psql('postgres', q{SELECT penumbra.load('t')}) > 0, 1, 'loaded after recovery');
is(require_cache($sum), "300000|45000151000|100", 'answer from the cache after recovery');
is($node->safe_psql('postgres', q{SELECT sum(mismatches) FROM penumbra.verify('t')}), '0', 'verified');
$node->stop;

# Without preloading, the functions say what to do.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->append_conf('postgresql.conf', "penumbra.memory = '64MB'");
$node->start;
foreach my $query (q{SELECT penumbra.load('t')}, 'SELECT penumbra.reset_statistics()', 'TABLE penumbra.statements', 'TABLE penumbra.refusals')
{
	my ($rc, $out, $err) = $node->psql('postgres', $query);
	like($err, qr/was not loaded at server start.*HINT:  Add penumbra to shared_preload_libraries in ".*postgresql\.conf"/s,
		"not preloaded: $query");
}
is($node->safe_psql('postgres', $sum), "300000|45000151000|100", 'not preloaded: queries run');
$node->safe_psql('postgres', 'CREATE DATABASE warned');
my (undef, undef, $err) = $node->psql('warned', 'CREATE EXTENSION penumbra');
like($err, qr/WARNING:  penumbra was not loaded at server start/, 'not preloaded: installing warns');
$node->stop;

done_testing();
