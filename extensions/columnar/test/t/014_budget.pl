# Sessions share threads and memory: never do more run than may, they spill when all hold too much, every query gets on,
# and nothing is lost when sessions end.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $max_threads = 6;
my $sessions = 4;
my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'penumbra'
penumbra.memory = '128MB'
penumbra.auto_load = off
penumbra.max_threads = $max_threads
penumbra.threads_per_query = 3
penumbra.mode = 'prefer'
work_mem = '256MB'
autovacuum = off
jit = off
restart_after_crash = on
});
$node->start;
sub ask { my ($query) = @_; return $node->safe_psql('postgres', $query); }
sub prepare_tables
{
	ask(q{
		CREATE EXTENSION IF NOT EXISTS penumbra;
		CREATE EXTENSION IF NOT EXISTS penumbra_test;
		CREATE TABLE IF NOT EXISTS t AS
			SELECT i AS a, i % 70000 AS g, 'a text ' || i % 9973 AS s FROM generate_series(1, 800000) i;
		CREATE TABLE IF NOT EXISTS d AS SELECT i AS g, i % 25 AS n FROM generate_series(0, 69999) i;
		CREATE TABLE IF NOT EXISTS n AS SELECT i AS n, 'n' || i % 5 AS s FROM generate_series(0, 24) i;
		VACUUM ANALYZE t, d, n;
		SELECT penumbra.load('t'), penumbra.load('d'), penumbra.load('n');
	});
}
prepare_tables();

# Of many kinds: one of them streams its rows, one sorts, one joins, one reads the heap.
my @queries = (
	q{SELECT count(*) || ' ' || sum(c) FROM (SELECT g, count(*) AS c FROM t GROUP BY g) x},
	q{SELECT count(*) || ' ' || max(s) FROM (SELECT s, a FROM t ORDER BY s, a OFFSET 0) x},
	q{SELECT count(*) || ' ' || sum(t.a) FROM t JOIN t u ON t.a = u.a WHERE u.g < 60000},
	q{SELECT count(*) || ' ' || sum(length(s)) FROM t WHERE a % 3 = 0});
my @answers = map { ask("SET penumbra.mode = 'off'; $_") } @queries;

my $sum = 'SELECT callers, tickets, waiting, memory_bytes >> 20 FROM penumbra_test.budget() WHERE pid IS NULL';
sub nothing_is_left
{
	my ($name) = @_;
	ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM penumbra_test.budget()
		WHERE callers <> 0 OR tickets <> 0 OR waiting <> 0 OR memory_bytes <> 0}), "$name: nothing is left");
}

# One more than threads_per_query: it has the processor of the caller while that waits.
like(ask("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $queries[0]"), qr/Threads: 4\b/, 'a query alone has its threads');
nothing_is_left('one query');

# Sessions that run all queries again and again, so long or so often, and note wrong answers and what may not happen to a
# query.
ask('CREATE TABLE outcome (session int, what text, runs int)');
ask(q{CREATE PROCEDURE run(session int, seconds float, most int, queries text[], answers text[]) AS $$
DECLARE
	deadline timestamptz := clock_timestamp() + seconds * interval '1 second';
	n int; runs int := 0; answer text; what text := 'right';
BEGIN
	WHILE clock_timestamp() < deadline AND runs < most LOOP
		n := 1 + (session + runs) % cardinality(queries);
		runs := runs + 1;
		BEGIN
			EXECUTE queries[n] INTO answer;
			IF answer <> answers[n] THEN what := queries[n] || ' gives ' || answer; END IF;
		EXCEPTION
			WHEN query_canceled THEN NULL;
			WHEN OTHERS THEN what := SQLERRM;
		END;
	END LOOP;
	INSERT INTO outcome VALUES (session, what, runs);
END $$ LANGUAGE plpgsql});
sub arrays { return join ', ', map { 'ARRAY[' . join(', ', map { "\$q\$$_\$q\$" } @$_) . ']' } @_; }
my $arrays = arrays(\@queries, \@answers);
sub begin_sessions
{
	my ($seconds, $most, $arrays_run) = (@_, 1000000, $arrays);
	ask('TRUNCATE outcome');
	my @begun = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. $sessions;
	foreach my $i (1 .. $sessions)
	{
		$begun[$i - 1]->query_until(qr/begun/, "\\echo begun\nCALL run($i, $seconds, $most, $arrays_run);\n");
	}
	return @begun;
}
sub end_sessions { foreach my $session (@_) { eval { $session->query('SELECT 1'); $session->quit }; } }
my $others = q{FROM pg_stat_activity WHERE query LIKE 'CALL run%' AND pid <> pg_backend_pid()};

# Watches for so long what all have; does something to sessions meanwhile.
sub watch
{
	my ($seconds, $disturb) = @_;
	my ($watcher, $most, $most_waiting, $most_memory) = ($node->background_psql('postgres'), 0, 0, 0);
	my $end = time() + $seconds;
	while (time() < $end)
	{
		my ($callers, $tickets, $waiting, $memory) = split /\|/, $watcher->query_safe($sum);
		# who had a thread in its place, and runs again, counts twice until that thread's morsel ends
		my $excess = $callers + $tickets - ($callers > $max_threads ? $callers : $max_threads);
		$most = $excess if $tickets > 0 && $excess > $most;
		$most_waiting = $waiting if $waiting > $most_waiting;
		$most_memory = $memory if $memory > $most_memory;
		$watcher->query_safe($disturb) if defined $disturb;
		usleep(5000);
	}
	$watcher->quit;
	return ($most, $most_waiting, $most_memory);
}

my @begun = begin_sessions(3);
my ($most, $waiting, $memory) = watch(2);
end_sessions(@begun);
cmp_ok($most, '<', $sessions, 'no more threads run than may');
cmp_ok($waiting, '>', 0, 'and some were waited for');
is(ask(q{SELECT string_agg(DISTINCT what, ';'), count(*), min(runs) > 0 FROM outcome}), "right|$sessions|t",
	'all sessions get on, and their answers are right');
nothing_is_left('many queries');

# The same with little memory for all of them.
my $temporary_bytes = 'SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()';
is(ask($temporary_bytes), '0', 'nothing was spilled');
ask('ALTER SYSTEM SET penumbra.query_memory = 16');
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('penumbra.query_memory') = '16MB'}) or die;
@begun = begin_sessions(3);
(undef, undef, my $little) = watch(2);
end_sessions(@begun);
is(ask(q{SELECT string_agg(DISTINCT what, ';'), count(*) FROM outcome}), "right|$sessions", 'answers with little memory');
ok($node->poll_query_until('postgres', "SELECT ($temporary_bytes) > 0"), 'queries spill');
cmp_ok($little, '<', 3 * 16, "memory in MB, of $memory without a limit");
nothing_is_left('little memory');

# Nor do many sessions keep for their next query what they have held.
my @idle = map { $node->background_psql('postgres') } 1 .. 20;
foreach my $query ($queries[0], $queries[0]) { $_->query_safe($query) foreach @idle; }
my $kept = 0;
foreach my $session (@idle)
{
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$kept += $1 / 1024 if slurp_file("/proc/$pid/status") =~ /RssAnon:\s+(\d+) kB/;
	$session->quit;
}
SKIP:
{
	skip 'memory with AddressSanitizer', 1 if exists $ENV{ASAN_OPTIONS};
	# 7 each; 16 where the library keeps what is freed
	cmp_ok($kept, '<', 20 * 10, 'memory of idle sessions in MB');
}
ask('ALTER SYSTEM RESET penumbra.query_memory');
$node->reload;

@begun = begin_sessions(3);
watch(2, "SELECT pg_cancel_backend(pid) $others AND random() < 0.2");
end_sessions(@begun);
# A cancel between two queries ends the session's run.
is(ask(q{SELECT count(*) FROM outcome WHERE what <> 'right'}), '0', 'canceled queries');
nothing_is_left('canceled queries');

@begun = begin_sessions(60);
watch(1);
ask("SELECT pg_terminate_backend(pid) $others");
$node->poll_query_until('postgres', "SELECT count(*) = 0 $others") or die;
end_sessions(@begun);
nothing_is_left('terminated sessions');

# A cursor in the middle of its rows: its threads have no ticket, and leave none.
my $cursor = $node->background_psql('postgres', on_error_stop => 0);
$cursor->query_safe("BEGIN; DECLARE c CURSOR FOR SELECT a, s FROM t WHERE a % 7 < 6; FETCH 10 FROM c");
$node->poll_query_until('postgres', "SELECT callers + tickets + waiting = 0 FROM ($sum) x")
  or die 'an idle cursor has threads that run';
is(ask($queries[0]), $answers[0], 'beside a cursor');
is($cursor->query_safe('SELECT 1; MOVE ALL FROM c; COMMIT; SELECT 2'), "1\n2", 'the cursor goes on');
nothing_is_left('a cursor');
$cursor->query_safe("BEGIN; DECLARE c CURSOR FOR SELECT a, s FROM t WHERE a % 7 < 6; FETCH 10 FROM c");
ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; DECLARE c%'");
eval { $cursor->quit };
nothing_is_left('a cursor of a session that was terminated');

# One thread at a time, which is the session's own, but for what it waits for.
ask('ALTER SYSTEM SET penumbra.max_threads = 1');
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('penumbra.max_threads') = '1'}) or die;
is(ask($queries[$_]), $answers[$_], "one thread: $queries[$_]") foreach 0 .. $#queries;
ask('ALTER SYSTEM RESET penumbra.max_threads');
$node->reload;

# More threads than there are processors, or morsels in most of a query's pipelines.
ask("ALTER SYSTEM SET penumbra.$_") foreach 'max_threads = 24', 'threads_per_query = 15';
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('penumbra.max_threads') = '24'}) or die;
my @pipelines = (
	q{SELECT count(*) || ' ' || sum(t.a) FROM t JOIN d ON t.g = d.g JOIN n ON d.n = n.n WHERE n.s = 'n3'
		AND EXISTS (SELECT FROM t u WHERE u.g = t.g AND u.a <> t.a)
		AND NOT EXISTS (SELECT FROM t v WHERE v.g = t.g AND v.a <> t.a AND v.a % 1000 = 3)},
	q{SELECT count(*) || ' ' || sum(c) FROM (SELECT n.s, count(*) AS c FROM t JOIN d ON t.g = d.g JOIN n ON d.n = n.n
		JOIN n o ON o.n = d.n GROUP BY n.s) x});
my @pipelines_answers = map { ask("SET penumbra.mode = 'off'; $_") } @pipelines;
like(ask("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $pipelines[0]"), qr/Threads: (?:9|10)\b/, 'a query alone has more than there are processors');
@begun = begin_sessions(100000, 60, arrays(\@pipelines, \@pipelines_answers));
end_sessions(@begun);
is(ask(q{SELECT string_agg(DISTINCT what, ';'), sum(runs) FROM outcome}), 'right|' . 60 * $sessions,
	'many pipelines, and more threads than processors');
nothing_is_left('many pipelines');
ask("ALTER SYSTEM RESET penumbra.$_") foreach 'max_threads', 'threads_per_query';
$node->reload;

# A process that is killed takes the numbers of all with it.
@begun = begin_sessions(60);
watch(1);
my $pid = ask("SELECT max(pid) $others");
kill 'KILL', $pid;
foreach my $session (@begun) { eval { $session->quit }; }
$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come again';
nothing_is_left('a killed process');
prepare_tables();
is(ask($queries[0]), $answers[0], 'after a crash');
nothing_is_left('after a crash');

$node->stop;
done_testing();
