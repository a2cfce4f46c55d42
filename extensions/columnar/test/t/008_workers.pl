# Processes of the cache that end, cannot start, or are told other settings: nobody waits for them for ever.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '16MB'
penumbra.disk_cache_size = '256MB'
penumbra.auto_load = off
autovacuum = off
fsync = on
});
$node->start;

sub ask { my ($query) = @_; return $node->safe_psql('postgres', $query); }
sub await { my ($condition) = @_; return $node->poll_query_until('postgres', "SELECT $condition"); }
sub await_disk { my ($condition) = @_; await("$condition FROM penumbra.disk") or die "not reached: $condition"; }
sub pid_of { my ($type) = @_; return ask("SELECT pid FROM pg_stat_activity WHERE backend_type = '$type'"); }
sub begin
{
	my ($settings, $query) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_safe("SET client_min_messages = error; $settings");
	$session->query_until(qr/begun/, "\\echo begun\n$query;\n");
	return $session;
}
sub end { my ($session) = @_; my $output = $session->query('SELECT 1'); $session->quit; return $output =~ s/\s.*//sr; }

ask(q{
	CREATE EXTENSION penumbra;
	CREATE EXTENSION penumbra_test;
	CREATE TABLE t AS SELECT i AS a, md5(i::text) AS s, md5(i::text || 'x') AS u FROM generate_series(1, 500000) i;
	VACUUM ANALYZE t;
});
my $sum = 'SELECT count(*), sum(a), max(s), max(u) FROM t';
my $answer = ask("SET penumbra.mode = 'off'; $sum");
sub is_right { my ($name) = @_; is(ask("SET penumbra.mode = 'prefer'; $sum"), $answer, "$name: answer"); }

# The process that saves is terminated while a load waits for it: the load ends, and the process comes again.
await_disk("state = 'open' AND NOT is_pending");
my $saver = pid_of('penumbra disk cache');
kill 'STOP', $saver;
my $load = begin('', q{SELECT penumbra.load('t')});
ok(await(q{count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND query ~ 'load'}),
	'a load waits for memory');
ask("SELECT pg_terminate_backend($saver)");
kill 'CONT', $saver;
my $partly = end($load);
cmp_ok($partly, '>', 0, 'the load ends with what fits');
is_right('without the process');
await_disk("state IN ('stopped', 'open')");
await_disk("state = 'open' AND NOT is_pending");
isnt(pid_of('penumbra disk cache'), $saver, 'the process comes again');
ask(q{SELECT penumbra.load('t')});
is(ask(q{SELECT pages_from_heap FROM penumbra.explain_coverage('t')}), '0', 'and the whole table is loaded');
await_disk('NOT is_pending AND saved_chunks > 0');
is_right('with the process');

# It is terminated while it finds what was saved: the next one finds the rest.
my $saved = ask('SELECT saved_chunks FROM penumbra.disk');
$node->restart;
ask(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'penumbra disk cache'});
await_disk("state = 'open' AND NOT is_pending");
is(ask('SELECT restored_chunks FROM penumbra.disk'), $saved, 'all is found');
is_right('found by two processes');

# There is no place for it: the launcher reads its list all the same, and the view says so.
$node->append_conf('postgresql.conf', "max_worker_processes = 1\nmax_logical_replication_workers = 0\npenumbra.auto_load = on");
$node->stop;
$node->append_conf('penumbra/wanted', '1 1259 1 5');
$node->start;
await_disk("state = 'stopped'");
ok(await('wanted_columns > 0 FROM penumbra.activity'), 'the list is read');
# in hundredths of a second; columns are counted from the name's parenthesis on
sub processor_time { my @stat = split ' ', slurp_file("/proc/$_[0]/stat") =~ s/.*\) //r; return $stat[11] + $stat[12]; }
my $launcher = pid_of('penumbra launcher');
my $before = processor_time($launcher);
sleep 2;
cmp_ok(processor_time($launcher) - $before, '<', 50, 'and the launcher sleeps');
is_right('without a place for the process');

# A load that has begun takes up a lower target; a worker also that it is to end, after the chunk that it has in hand.
$node->append_conf('postgresql.conf', q{
max_worker_processes = 8
penumbra.disk_cache_size = 0
penumbra.memory = '64MB'
penumbra.auto_load = off
});
$node->restart;
my $used = q{SELECT used_bytes >> 20 FROM penumbra.memory WHERE size_class = 'all'};
my $chunks = ask(q{SELECT penumbra.load('t')});
cmp_ok(ask($used), '>', 24, 'all is cached');
# Lowers the target while a process of the type has loaded one chunk.
sub held_load
{
	my ($type, $begin, $settings) = @_;
	ask(q{SELECT penumbra.unload('t')});
	my $keeper = $node->background_psql('postgres');
	$keeper->query_safe(q{SELECT pg_advisory_lock(penumbra_test.stop_point_key('load-after-chunk'))});
	my $begun = $begin->();
	ok(await("count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND backend_type = '$type'"), "$type: held");
	foreach my $setting ("penumbra.memory_target = '16MB'", @$settings)
	{
		ask("ALTER SYSTEM SET $setting");
	}
	$node->reload;
	await('DISTINCT budget_bytes >> 20 = 16 FROM penumbra.memory') or die;
	$keeper->quit;
	return $begun;
}
my $stop = q{penumbra.stop_points = 'load-after-chunk'};
my $loaded = end(held_load('client backend', sub { begin("SET $stop", q{SELECT penumbra.load('t')}) }, []));
cmp_ok($loaded, '<', $chunks, 'a load ends early');
cmp_ok(ask($used), '<=', 16, 'at the lower target');
ask('ALTER SYSTEM RESET penumbra.memory_target');
$node->append_conf('postgresql.conf', "penumbra.auto_load = on\n$stop");
$node->reload;
await('DISTINCT budget_bytes >> 20 = 64 FROM penumbra.memory') or die;
$loaded = ask('SELECT chunks_loaded FROM penumbra.activity');
held_load('penumbra worker', sub { ask($sum) }, ['penumbra.auto_load = off']);
ok(await(q{count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'penumbra worker'}), 'a worker ends');
is(ask('SELECT chunks_loaded FROM penumbra.activity') - $loaded, 1, 'with the chunk that it had in hand');
is_right('part of it cached');
ask('ALTER SYSTEM RESET ALL');
$node->append_conf('postgresql.conf', q{penumbra.stop_points = ''});
$node->reload;
ask($sum);
ok(await(q{coverage_percent > 95 FROM penumbra.columns WHERE column_name = 'u'}), 'another worker does the rest');
is_right('all of it cached');

$node->stop;
done_testing();
