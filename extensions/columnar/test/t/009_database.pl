# The cache and its worker serve the databases that have the extension, and no other one.
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
autovacuum = off
deadlock_timeout = '100ms'
max_prepared_transactions = 2
});
$node->start;

# The views are asked for in a database of their own.
$node->safe_psql('postgres', 'CREATE EXTENSION penumbra; CREATE EXTENSION penumbra_test; CREATE DATABASE other');
$node->safe_psql('other', q{
	CREATE TABLE t AS SELECT i AS a, md5(i::text) AS s FROM generate_series(1, 200000) i;
	VACUUM ANALYZE t;
});
my $sum = 'SELECT count(*), sum(a), max(s) FROM t';
my $cached = q{FROM penumbra.get_tables() JOIN pg_database ON oid = datid WHERE datname = 'other'};
my $worker = q{FROM pg_stat_activity WHERE backend_type = 'penumbra worker' AND datname = 'other'};
sub other { return $node->safe_psql('other', $_[0]); }
sub await { $node->poll_query_until('postgres', "SELECT $_[0]") or die "not reached: $_[0]"; }
sub is_cached { is($node->safe_psql('postgres', "SELECT count(*) > 0 $cached"), $_[0] ? 't' : 'f', $_[1]); }
sub plan_of { my ($session, $query) = @_; return $session->query_safe("EXPLAIN $query"); }
my $answer = other($sum);

# ---- without the extension

my $session = $node->background_psql('other', on_error_stop => 0);
unlike(plan_of($session, $sum), qr/Penumbra/, 'no plan of ours');
unlike(other("SET penumbra.mode = 'prefer'; EXPLAIN $sum"), qr/Penumbra/, 'nor where it is preferred');
my (undef, undef, $error) = $node->psql('other', "SET penumbra.mode = 'require'; $sum");
like($error, qr/DETAIL:  Table "t": this database does not have the extension\./, 'what is required says why not');
sleep 2;
is($node->safe_psql('postgres', 'SELECT loads, wanted_columns FROM penumbra.activity'), '0|0', 'nothing is loaded or wanted');
is_cached(0, 'nor cached');

# ---- with it, in sessions that were there before

other('CREATE EXTENSION penumbra; CREATE EXTENSION penumbra_test');
$session->query_safe("SET plan_cache_mode = 'force_generic_plan'; PREPARE q AS $sum");
my $load = q{SELECT penumbra.load('t') > 0};
is(other($load), 't', 'loaded');
like(plan_of($session, $sum), qr/Penumbra/, 'a plan of ours');
like(plan_of($session, 'EXECUTE q'), qr/Penumbra/, 'also a generic one');

# ---- a drop that is undone leaves what is cached

$session->query_safe('BEGIN; DROP EXTENSION penumbra CASCADE');
unlike(plan_of($session, $sum), qr/Penumbra/, 'dropped, for its own transaction');
like(other("EXPLAIN $sum"), qr/Penumbra/, 'and for no other');
$session->query_safe('ROLLBACK');
like(plan_of($session, 'EXECUTE q'), qr/Penumbra/, 'there again');
$session->query_safe('BEGIN; SAVEPOINT a; DROP EXTENSION penumbra; ROLLBACK TO a; COMMIT');
like(plan_of($session, 'EXECUTE q'), qr/Penumbra/, 'there again after a rollback to a savepoint');
is_cached(1, 'and what was cached');

# ---- ways to drop it

my %drops = (
	'DROP EXTENSION' => 'DROP EXTENSION penumbra',
	'a view of ours' => 'CREATE VIEW v AS SELECT * FROM penumbra.tables; DROP EXTENSION penumbra CASCADE',
	'DROP SCHEMA' => 'DROP SCHEMA penumbra CASCADE',
	'a prepared transaction' => q{BEGIN; DROP EXTENSION penumbra; PREPARE TRANSACTION 'drop'; COMMIT PREPARED 'drop'},
	'a subtransaction' => 'BEGIN; SAVEPOINT a; DROP EXTENSION penumbra; RELEASE a; COMMIT',
);
foreach my $way (sort keys %drops)
{
	other($drops{$way});
	is_cached(0, "$way: nothing is cached");
	unlike(plan_of($session, 'EXECUTE q'), qr/Penumbra/, "$way: no generic plan of ours");
	is(($session->query_safe('EXECUTE q') =~ s/\s+//gr), $answer, "$way: answer");
	$session->query_safe('CREATE EXTENSION penumbra');
	is(other($load), 't', "$way: there again");
	like(plan_of($session, 'EXECUTE q'), qr/Penumbra/, "$way: plans of ours again");
}
is(other('BEGIN; DROP EXTENSION penumbra; CREATE EXTENSION penumbra; COMMIT; SELECT count(*) > 0 FROM penumbra.tables'), 't',
	'who has it again at the end of the transaction keeps what was cached');

# ---- a worker and a load that are at it

other(q{SELECT penumbra.unload('t')});
$node->append_conf('postgresql.conf', q{penumbra.stop_points = 'load-after-chunk'});
$node->reload;
my $keeper = $node->background_psql('other');
$keeper->query_safe(q{SELECT pg_advisory_lock(penumbra_test.stop_point_key('load-after-chunk'))});
other($sum);
await("count(*) > 0 $worker AND wait_event = 'advisory'");
other('DROP EXTENSION penumbra');
await("count(*) = 0 $worker");
pass('the worker ends');
$keeper->quit;
is_cached(0, 'what it loaded is gone');
is(other($sum), $answer, 'answer');
sleep 2;
is($node->safe_psql('postgres', 'SELECT wanted_columns FROM penumbra.activity'), '0', 'nothing is wanted any more');
is_cached(0, 'nor loaded again');
$node->append_conf('postgresql.conf', q{penumbra.stop_points = ''});
$node->reload;
other('CREATE EXTENSION penumbra');
my $loader = $node->background_psql('other');
$loader->query_safe(q{BEGIN; SELECT penumbra.load('t')});
my ($code) = $node->psql('other', q{SET lock_timeout = '200ms'; DROP EXTENSION penumbra});
isnt($code, 0, 'the drop waits for the transaction of a load');
$loader->query_safe('COMMIT');
other('DROP EXTENSION penumbra');
is_cached(0, 'then it is done');
$loader->quit;

# ---- a name that says less than it seems

other('CREATE FUNCTION penumbra.load(text) RETURNS int LANGUAGE sql AS \'SELECT 1\'');
unlike(other("EXPLAIN $sum"), qr/Penumbra/, 'a schema of the name is no extension');
other('DROP SCHEMA penumbra CASCADE');

# ---- the list of what was cached asks for nothing there

other('CREATE EXTENSION penumbra');
is(other($load), 't', 'loaded');
$node->stop;
like(slurp_file($node->data_dir . '/penumbra/wanted'), qr/^\d+ \d+ 1 \d+$/m, 'the list has it');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->start;
other('DROP EXTENSION penumbra');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'penumbra'");
$node->restart;
await('wanted_columns = 0 FROM penumbra.activity');
sleep 1;
is_cached(0, 'a drop without the library: nothing is loaded');
$session->quit;

$node->stop;
done_testing();
