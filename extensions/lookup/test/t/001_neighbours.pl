# Libraries that watch executions, isolation levels, prepared transactions, and a standby that is promoted.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $settings = q{
plan_cache_mode = force_generic_plan
max_prepared_transactions = 4
jit = off
};
my $tables = q{
CREATE TABLE items (id int PRIMARY KEY, name text);
INSERT INTO items SELECT i, 'item ' || i FROM generate_series(1, 1000) i;
ANALYZE items;
};
my $prepare = 'PREPARE by_key(int) AS SELECT name FROM items WHERE id = $1;';
my $execute = join('', map { "EXECUTE by_key($_);" } 1 .. 10);
my $ready = q{SELECT 'ready ' || executions FROM penumbra_lookup.executions WHERE outcome = 'ready';};

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', $settings);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'penumbra_lookup,pg_stat_statements,auto_explain'");
$node->append_conf('postgresql.conf', 'pg_stat_statements.track = all');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION penumbra_lookup; CREATE EXTENSION pg_stat_statements;' . $tables);

# pg_stat_statements sees each execution; what it allocates for one is not kept
$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()');
my $answer = $node->safe_psql('postgres', $prepare . $execute . $ready);
like($answer, qr/item 10\nready 8$/, 'ready states inside of pg_stat_statements');
is($node->safe_psql('postgres', q{SELECT calls, rows FROM pg_stat_statements WHERE query LIKE 'PREPARE by_key%'}),
	'10|10', 'pg_stat_statements counts executions on ready states');
my $bytes = q{SELECT 'bytes ' || sum(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'ExecutorState';};
my $loop = 'DO $$ BEGIN FOR i IN 1..%d LOOP PERFORM name FROM items WHERE id = i % 1000; END LOOP; END $$;';
$answer = $node->safe_psql('postgres', sprintf($loop =~ s/i % 1000/i %% 1000/r, 50) . $bytes
	. sprintf($loop =~ s/i % 1000/i %% 1000/r, 20000) . $bytes);
my ($before, $after) = $answer =~ /bytes (\d+)\nbytes (\d+)/;
cmp_ok($after, '<=', 2 * $before, 'a state does not grow with its executions');

# the same of updates, whose WAL is counted, too
my $prepare_update = q{PREPARE rename(int) AS UPDATE items SET name = 'item ' || id WHERE id = $1;};
my $updates = join('', map { "EXECUTE rename($_);" } 1 .. 10);
like($node->safe_psql('postgres', $prepare_update . $updates . $ready), qr/ready 8$/, 'ready states of updates');
is($node->safe_psql('postgres',
		q{SELECT calls, rows, wal_records > 10 FROM pg_stat_statements WHERE query LIKE 'PREPARE rename%'}),
	'10|10|t', 'pg_stat_statements counts updates on ready states');
$loop = q{DO $$ BEGIN FOR i IN 1..%d LOOP UPDATE items SET name = 'item ' || i %% 1000 WHERE id = i %% 1000; END LOOP; END $$;};
$answer = $node->safe_psql('postgres', 'CREATE INDEX items_name ON items (name);' . sprintf($loop, 50) . $bytes
	  . sprintf($loop, 20000) . $bytes . 'DROP INDEX items_name;');
($before, $after) = $answer =~ /bytes (\d+)\nbytes (\d+)/;
cmp_ok($after, '<=', 2 * $before, 'a state does not grow with its updates');

# auto_explain: without measurements it logs plans of ready states; with them the execution is PostgreSQL's
my $offset = -s $node->logfile;
$answer = $node->safe_psql('postgres', 'SET auto_explain.log_min_duration = 0;' . $prepare . $execute . $ready);
like($answer, qr/ready 8$/, 'ready states with auto_explain');
$node->log_check('auto_explain logs executions on ready states', $offset,
	log_like => [qr/Index Scan using items_pkey on items/]) if $node->can('log_check');
$answer = $node->safe_psql('postgres',
	'SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;' . $prepare . $execute . $ready);
like($answer, qr/ready 0$/, 'no ready states where auto_explain measures');

# what the server logs of each statement
$offset = -s $node->logfile;
like($node->safe_psql('postgres', 'SET log_executor_stats = on; SET log_min_duration_statement = 0; SET track_io_timing = on;'
		  . $prepare . $execute . $ready), qr/item 10\nready 8$/, 'ready states with statistics of the executor');
my $log = slurp_file($node->logfile, $offset);
cmp_ok(scalar(() = $log =~ /duration: [\d.]+ ms/g), '>=', 10, 'each execution is logged with its duration');
cmp_ok(scalar(() = $log =~ /EXECUTOR STATISTICS/g), '>=', 10, 'each execution is logged with its statistics');

# write skew: both read what the other one changes
my @sessions = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2
  if PostgreSQL::Test::Cluster->can('background_psql') && $node->can('background_psql');
SKIP:
{
	skip 'background_psql() is of later versions', 1
	  unless @sessions == 2 && $sessions[0]->can('query');
	$_->query($prepare . $execute) for @sessions;
	$_->query('BEGIN ISOLATION LEVEL SERIALIZABLE') for @sessions;
	$sessions[0]->query('EXECUTE by_key(1)');
	$sessions[1]->query('EXECUTE by_key(2)');
	$sessions[0]->query(q{UPDATE items SET name = 'a' WHERE id = 2});
	$sessions[1]->query(q{UPDATE items SET name = 'b' WHERE id = 1});
	$sessions[0]->query('COMMIT');
	$sessions[1]->query('COMMIT');
	$sessions[1]->query_until(qr/done/, "\\echo done\n");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM items WHERE name IN ('a', 'b')}),
		'1', 'one of two transactions with a write skew fails');
	$_->quit for @sessions;
}

# a transaction that is prepared has no execution in use
is($node->safe_psql('postgres',
		"$prepare $execute BEGIN; EXECUTE by_key(5); PREPARE TRANSACTION 'p'; EXECUTE by_key(6); COMMIT PREPARED 'p'; $ready")
	  =~ s/.*\n//sr, 'ready 10', 'PREPARE TRANSACTION');

# inside of other libraries nothing is kept
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements,penumbra_lookup'");
$node->restart;
$answer = $node->safe_psql('postgres', $prepare . $execute
	  . q{SELECT outcome FROM penumbra_lookup.executions WHERE executions > 0});
like($answer, qr/item 10\nhooks$/, 'no ready states within the hooks of others');

# loaded by the session
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->append_conf('postgresql.conf', "session_preload_libraries = 'penumbra_lookup'");
$node->restart;
like($node->safe_psql('postgres', $prepare . $execute . $ready), qr/ready 8$/, 'loaded by the session');

# a session of a standby reads on after the promotion, when it may mark dead entries
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
like($standby->safe_psql('postgres', $prepare . $execute . $ready), qr/item 10\nready 8$/, 'on a standby');
$node->stop;
$standby->promote;
like($standby->safe_psql('postgres', "$prepare_update $updates $ready"), qr/ready 8$/, 'updates after promotion');
like($standby->safe_psql('postgres', "$prepare $execute DELETE FROM items WHERE id = 3; EXECUTE by_key(3); EXECUTE by_key(4); $ready"),
	qr/item 10\nitem 4\nready 10$/, 'after promotion');
$standby->stop;

done_testing();
