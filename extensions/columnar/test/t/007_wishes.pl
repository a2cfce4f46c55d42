# penumbra.auto_load: which tables a plan asks for. Those that it reads much of, by whatever scan; not those of look-ups.
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
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra;
	CREATE TABLE dim (id int PRIMARY KEY, name text, region int);
	CREATE TABLE fact (id int PRIMARY KEY, dim int, amount int);
	CREATE TABLE key_only (id int PRIMARY KEY, unused text);
	CREATE INDEX ON fact (dim);
	CREATE TABLE parts (id int, amount int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
	CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (50000);
	CREATE TABLE part_2 PARTITION OF parts FOR VALUES FROM (50000) TO (100000);
	INSERT INTO parts SELECT i, i % 1000 FROM generate_series(0, 99999) i;
	CREATE ROLE reader;
	GRANT SELECT ON fact, parts TO reader;
	INSERT INTO dim SELECT i, 'name ' || i, i % 10 FROM generate_series(1, 50000) i;
	INSERT INTO fact SELECT i, 1 + i % 50000, i % 1000 FROM generate_series(1, 200000) i;
	INSERT INTO key_only SELECT i, 'unused' FROM generate_series(1, 50000) i;
	CREATE TABLE events AS SELECT i AS id, jsonb_build_object('kind', i % 7, 'more', i) AS doc FROM generate_series(1, 50000) i;
});
$node->safe_psql('postgres', 'VACUUM ANALYZE dim, fact, key_only, parts, events');

# The columns that are loaded once the statement is planned: that alone is a wish.
sub loaded_after
{
	my ($settings, $query) = @_;

	$node->safe_psql('postgres', q{SELECT penumbra.unload(c) FROM unnest('{dim,fact,key_only,part_1,part_2,events}'::regclass[]) c});
	# a role without privileges gets an error once the plan is made
	$node->psql('postgres', "$settings; EXPLAIN $query");
	$node->poll_query_until('postgres', q{
		SELECT wanted_columns = 0 AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'penumbra worker')
		FROM penumbra.activity
	}) or die;
	return $node->safe_psql('postgres', q{
		SELECT string_agg(relname || '.' || column_name, ' ' ORDER BY relname, column_name) FROM penumbra.columns
	});
}

my $join = 'SELECT region, sum(amount) FROM fact JOIN dim ON dim.id = fact.dim GROUP BY region';
my $all = 'dim.id dim.region fact.amount fact.dim';
my $loops = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off';

is(loaded_after('SELECT', $join), $all, 'a join by primary key');
is(loaded_after($loops, $join), $all, 'a nested loop of many look-ups');
is(loaded_after("$loops; SET enable_memoize = off", $join), $all, 'without Memoize');
is(loaded_after('SET enable_hashjoin = off', $join), $all, 'a merge join');
is(loaded_after('SET max_parallel_workers_per_gather = 4; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
	. 'SET min_parallel_table_scan_size = 0', $join), $all, 'a parallel plan');
is(loaded_after('SELECT', 'SELECT sum(amount) FROM fact WHERE dim > 20000'), 'fact.amount fact.dim',
	'half of a table that has an index');
is(loaded_after('SELECT', 'SELECT sum(f.amount) FROM fact f WHERE EXISTS (SELECT FROM key_only WHERE id = f.dim)'),
	'fact.amount fact.dim key_only.id', 'a key that is only tested');
is(loaded_after('SELECT', 'SELECT (SELECT region FROM dim WHERE id = f.dim), amount FROM fact f'), $all,
	'a subquery for each row');

my $path = q{SELECT doc->>'kind', count(*) FROM events WHERE id > 7 GROUP BY 1};
is(loaded_after('SELECT', $path), 'events.id', 'a path of a document: not when it is asked for once');
is(loaded_after('SELECT', $path), q{events.(doc ->> 'kind'::text) events.id}, 'but when it is again');

my $partitioned = 'SELECT sum(p.amount) FROM fact JOIN parts p ON p.id = fact.dim';
my $of_parts = 'fact.dim part_1.amount part_1.id';
is(loaded_after('SELECT', "$partitioned WHERE p.id < 50000"), $of_parts, 'a partition');
is(loaded_after('SET ROLE reader', "$partitioned WHERE p.id < 50000"), $of_parts, 'by a right on the whole table');
is(loaded_after('SET ROLE reader', $join), 'fact.amount fact.dim', 'nothing of a table that the role may not read');

is(loaded_after('SELECT', 'SELECT * FROM fact JOIN dim ON dim.id = fact.dim WHERE fact.id = 7'), '', 'a look-up');
is(loaded_after('SELECT', 'SELECT * FROM fact JOIN dim ON dim.id = fact.dim WHERE fact.id < 20'), '', 'some look-ups');
is(loaded_after('SELECT', 'SELECT * FROM fact JOIN dim ON dim.id = fact.dim ORDER BY fact.id LIMIT 10'), '',
	'a page of a join');
is(loaded_after('SELECT', 'SELECT * FROM fact LIMIT 10'), '', 'the first rows of a table');
is(loaded_after('SELECT', 'SELECT max(id) FROM fact'), '', 'an end of an index');
is(loaded_after('SELECT', 'SELECT sum(amount) FROM fact WHERE amount < (SELECT region FROM dim WHERE id = 7)'),
	'fact.amount', 'a subquery that runs once');

# With a part of them cached the rest is asked for.
sub loaded_beside_fact
{
	my ($query) = @_;

	$node->safe_psql('postgres', q{SELECT penumbra.unload('dim'), penumbra.load('fact')});
	$node->safe_psql('postgres', $query);
	return $node->poll_query_until('postgres', q{
		SELECT string_agg(column_name, ' ' ORDER BY column_name) = 'id region' FROM penumbra.columns
		WHERE relid = 'dim'::regclass
	});
}
ok(loaded_beside_fact($join), 'the other side of a join that is ours');

$node->stop;
done_testing();
