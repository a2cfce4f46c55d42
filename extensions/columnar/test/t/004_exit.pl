# A session that is terminated while its query's threads read the cache: they end before its pins go.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $cores = () = slurp_file('/proc/cpuinfo') =~ /^processor/mg;
plan skip_all => 'one processor: queries have no threads' if $cores < 2;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '128MB'
penumbra.auto_load = off
penumbra.threads_per_query = 1
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra;
	CREATE EXTENSION penumbra_test;
	CREATE TABLE t AS SELECT i AS a, 'a text that is no dictionary ' || i AS s FROM generate_series(1, 600000) i;
	VACUUM t;
	SELECT penumbra.load('t');
});

sub threads_of
{
	my ($pid) = @_;
	my @tasks = glob("/proc/$pid/task/*");
	return scalar @tasks;
}

# A cursor in the middle of its rows, with a thread that waits to give more.
sub open_cursor
{
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->query_safe(q{
		SET penumbra.mode = 'prefer';
		SET penumbra.stop_points = 'exit-after-unpin';
		BEGIN;
		DECLARE c CURSOR FOR SELECT s, count(*) FROM t WHERE a % 7 < 6 GROUP BY s;
		FETCH 10 FROM c;
	});
	cmp_ok(threads_of($pid), '>', 1, 'the query has a thread');
	return ($session, $pid);
}

my $key = q{penumbra_test.stop_point_key('exit-after-unpin')};
my $waits = q{SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = %d AND wait_event_type = 'Lock'};

# pg_terminate_backend, and a time-out that is FATAL.
foreach my $way ('pg_terminate_backend', 'idle_in_transaction_session_timeout')
{
	my $keeper = $node->background_psql('postgres', on_error_stop => 0);
	$keeper->query_safe("SELECT pg_advisory_lock($key)");
	my ($session, $pid) = open_cursor();
	if ($way eq 'pg_terminate_backend')
	{
		$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	}
	else
	{
		$session->query("SET idle_in_transaction_session_timeout = '1ms'");
	}
	$node->poll_query_until('postgres', sprintf($waits, $pid)) or die 'the session does not exit';
	is(threads_of($pid), 1, "$way: no thread is left when the pins are gone");
	is($node->safe_psql('postgres', q{SELECT penumbra.unload('t') > 0}), 't', "$way: the memory can go");
	$keeper->quit;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the session is still there';
	eval { $session->quit };
	is($node->safe_psql('postgres', q{SELECT used_bytes FROM penumbra.memory WHERE size_class = 'all'}), '0',
		"$way: no memory is lost");
	$node->safe_psql('postgres', q{SELECT penumbra.load('t')});
}

# Shutdowns with such a session.
foreach my $mode ('fast', 'immediate')
{
	my ($session, $pid) = open_cursor();
	$node->stop($mode);
	eval { $session->quit };
	$node->start;
	$node->safe_psql('postgres', q{SELECT penumbra.load('t')});
}
unlike(slurp_file($node->logfile), qr/was terminated by signal (?!9)|PANIC/, 'nothing crashed');
$node->stop;

done_testing();
