# Many small tables: what is cached of one is found by its oid and goes with it, whatever else is cached.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# More than a transaction notes by name (SUSPECTS_MAX).
my $tables = 1200;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '128MB'
penumbra.auto_load = off
penumbra.auto_vacuum = off
autovacuum = off
max_locks_per_transaction = 1000
});
$node->start;

sub ask { my ($query) = @_; return $node->safe_psql('postgres', $query); }
sub cached { return ask('SELECT count(*) FROM penumbra.get_tables() JOIN pg_database d ON d.oid = datid WHERE datname = current_database()'); }
sub used { return ask(q{SELECT used_bytes FROM penumbra.memory WHERE size_class = 'all'}); }
sub load_all
{
	ask(q{SELECT penumbra.load('kept'), sum(penumbra.load(oid::regclass)) FROM pg_class c
		WHERE relnamespace = 'many'::regnamespace AND relkind = 'r'
			AND NOT EXISTS (SELECT FROM pg_seclabel WHERE objoid = c.oid)});
}

ask('CREATE EXTENSION penumbra; CREATE TABLE kept AS SELECT 1 AS a');
ask(q{SELECT penumbra.load('kept')});
my $used = used();
ask(qq{
	CREATE SCHEMA many;
	DO \$\$ BEGIN
		FOR i IN 1..$tables LOOP EXECUTE format('CREATE TABLE many.t%s AS SELECT %s AS a', i, i); END LOOP;
	END \$\$;
});
load_all();
is(cached(), $tables + 1, 'all are cached');

# Tables get new files.
ask('BEGIN; TRUNCATE many.t1, many.t2; ALTER TABLE many.t3 ALTER a TYPE bigint; COMMIT');
is(cached(), $tables - 2, 'three that were rewritten are not');
ask('VACUUM FULL many.t4');
ask('CREATE TEMP TABLE other AS SELECT 1; BEGIN; DROP TABLE many.t5; ROLLBACK; SELECT count(*) FROM many.t5');
ask('DROP TABLE many.t5');
is(cached(), $tables - 4, 'nor one of VACUUM FULL and one that was dropped, and all others are');
ask(q{SELECT penumbra.load('many.t3'), penumbra.load('many.t4')});
is(ask(q{SET penumbra.mode = 'require'; SELECT sum(a) FROM many.t3; SELECT sum(a) FROM many.t4}), "3\n4",
	'and they are cached again');
is(cached(), $tables - 2, 'once each');

# Labels of one table, and of several.
ask(q{SECURITY LABEL FOR penumbra ON TABLE many.t6 IS 'never'});
is(cached(), $tables - 3, 'a label holds for its table');
ask(q{BEGIN; SECURITY LABEL FOR penumbra ON TABLE many.t7 IS 'never'; SECURITY LABEL FOR penumbra ON TABLE many.t8 IS 'never';
	SECURITY LABEL FOR penumbra ON TABLE many.t6 IS NULL; COMMIT});
is(cached(), $tables - 5, 'and so do several of a transaction');

# After a restart the worker loads what was cached while there was one.
$node->append_conf('postgresql.conf', 'penumbra.auto_load = on');
$node->restart;
load_all();
$node->restart;
# a few wishes find no place
ok($node->poll_query_until('postgres', "SELECT count(*) > $tables - 100 FROM penumbra.tables"), 'the worker loads them');
$node->append_conf('postgresql.conf', 'penumbra.auto_load = off');
$node->reload;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'penumbra worker'}),
	'the worker ends');
load_all();
is(cached(), $tables - 4, 'and the others can be loaded by hand');

# All go.
ask('BEGIN; DROP SCHEMA many CASCADE; ROLLBACK');
is(cached(), $tables - 4, 'a drop that is rolled back drops nothing');
ask('DROP SCHEMA many CASCADE');
is(cached(), 1, 'a drop of all drops all');
is(used(), $used, 'with their memory');
is(ask(q{SELECT column_name, rows_checked, mismatches FROM penumbra.verify('kept')}), 'a|1|0', 'and nothing else');

$node->stop;
done_testing();
