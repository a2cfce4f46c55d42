# CALL penumbra.load_in_parts: nobody waits for the whole load, and what changes between its parts is looked at anew.
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
autovacuum = off
});
$node->start;
sub ask { return $node->safe_psql('postgres', $_[0]); }
sub await { $node->poll_query_until('postgres', "SELECT $_[0]") or die "not reached: $_[0]"; }
sub fails
{
	my ($query, $pattern, $what) = @_;
	my ($code, undef, $error) = $node->psql('postgres', $query);
	like($error, $pattern, $what);
}
ask(q{
	CREATE EXTENSION penumbra;
	CREATE EXTENSION penumbra_test;
	CREATE ROLE reader LOGIN;
	CREATE TABLE p (k int, v int, "w'ä" text) PARTITION BY LIST (k);
	CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
	CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
	CREATE TABLE p3 PARTITION OF p FOR VALUES IN (3);
	CREATE TABLE p4 PARTITION OF p FOR VALUES IN (4);
	INSERT INTO p SELECT i % 4 + 1, i, 'w' || i FROM generate_series(1, 4000) i;
});
ask('VACUUM ANALYZE p');
my $cached = q{SELECT string_agg(DISTINCT relname || ':' || column_name, ',' ORDER BY relname || ':' || column_name)
	FROM penumbra.columns};

# what it is given
is(ask(q{CALL penumbra.load_in_parts('p', '{v}'); } . $cached), 'p1:v,p2:v,p3:v,p4:v', 'the named columns of all partitions');
ask(q{CALL penumbra.load_in_parts('p1')});
is(ask($cached), q{p1:k,p1:v,p1:w'ä,p2:v,p3:v,p4:v}, 'all columns');
ask(q{CALL penumbra.load_in_parts(NULL); CALL penumbra.load_in_parts('p1', '{}')});
fails(q{CALL penumbra.load_in_parts('p', '{none}')}, qr/column "none" of relation "p1" does not exist/, 'a column that does not exist');
fails(q{CALL penumbra.load_in_parts('nobody')}, qr/relation "nobody" does not exist/, 'a relation that does not exist');
fails(q{CALL penumbra.load_in_parts('pg_class')}, qr/relation "pg_class" cannot be cached/, 'a catalog');
fails(q{BEGIN; CALL penumbra.load_in_parts('p')}, qr/cannot run in a transaction block or a function/, 'in a transaction block');
fails(q{DO $$ BEGIN PERFORM 1; EXCEPTION WHEN others THEN NULL; END $$; DO $$ BEGIN CALL penumbra.load_in_parts('p'); EXCEPTION WHEN others THEN RAISE; END $$},
	qr/cannot run in a transaction block or a function/, 'in a subtransaction');
is(ask(q{DO $$ BEGIN CALL penumbra.load_in_parts('p2'); END $$; SELECT 1}), '1', 'in a DO block');
my (undef, undef, $error) = $node->psql('postgres', q{CALL penumbra.load_in_parts('p1')}, extra_params => ['-U', 'reader']);
like($error, qr/must be owner of table p1|permission denied for table p1/, 'without the right');

# Between parts others get their locks, and what they did holds.
ask(q{SELECT penumbra.unload('p')});
my @keepers = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
my $lock = q{SELECT pg_advisory_lock(penumbra_test.stop_point_key('load-after-chunk'))};
$keepers[0]->query_safe($lock);
my $loader = $node->background_psql('postgres', on_error_stop => 0);
$loader->query_safe(q{SET penumbra.stop_points = 'load-after-chunk'});
$loader->query_until(qr/begun/, "\\echo begun\nCALL penumbra.load_in_parts('p');\n");
my $load = q{FROM pg_stat_activity WHERE query LIKE 'CALL%' AND state = 'active'};
await("count(*) = 1 $load AND wait_event = 'advisory'");
my $begun = ask("SELECT xact_start $load");
# next in the queue, before the load's next part
$keepers[1]->query_until(qr/begun/, "\\echo begun\n$lock;\n");
await(q{count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_advisory_lock%' AND wait_event = 'advisory'});
my $dropper = $node->background_psql('postgres', on_error_stop => 0);
$dropper->query_until(qr/begun/, "\\echo begun\nBEGIN; ALTER TABLE p DETACH PARTITION p3; DROP TABLE p3; ALTER TABLE p4 RENAME TO \"p4'ö\"; COMMIT;\n");
await(q{count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%DETACH%'});
$keepers[0]->quit;
await(q{to_regclass('p3') IS NULL});
pass('DDL comes between two parts');
await("count(*) = 1 $load AND wait_event = 'advisory'");
is(ask("SELECT xact_start > '$begun' $load"), 't', 'the load has another transaction by now');
$keepers[1]->quit;
await("count(*) = 0 $load");
unlike($loader->query('SELECT 1'), qr/ERROR/, 'a partition that is gone is no error');
is(ask($cached), q{p1:k,p1:v,p1:w'ä,p2:k,p2:v,p2:w'ä,p4'ö:k,p4'ö:v,p4'ö:w'ä}, 'the others are loaded');
is(ask(q{SELECT sum(mismatches) FROM penumbra.verify('p1')}), '0', 'verified');
$_->quit foreach $loader, $dropper;

# A table of more than one part: 34 chunks, a row a page.
ask(q{
	CREATE TABLE large (id int, filler char(7000)) WITH (autovacuum_enabled = off);
	ALTER TABLE large ALTER filler SET STORAGE PLAIN;
	INSERT INTO large SELECT i, 'x' FROM generate_series(1, 34500) i;
});
ask('VACUUM large');
ask(q{CALL penumbra.load_in_parts('large', '{id}')});
is(ask(q{SELECT chunks, cached_pages >= 34500 FROM penumbra.tables WHERE relid = 'large'::regclass}), '34|t', 'all parts are loaded');
is(ask(q{SELECT loads FROM penumbra.progress, penumbra.activity}), '', 'and none is loading');
my $loads = ask('SELECT loads FROM penumbra.activity');
ask(q{SELECT penumbra.unload('large'); CALL penumbra.load_in_parts('large', '{id}')});
is(ask('SELECT loads FROM penumbra.activity') - $loads, 2, 'in two parts');
is(ask(q{SET penumbra.mode = 'require'; SELECT count(*), sum(id) FROM large}), '34500|595142250', 'right');
# a reload of the settings ends no part of it
$node->append_conf('postgresql.conf', 'penumbra.max_load_workers = 2');
ask(q{SELECT penumbra.unload('large')});
my $caller = $node->background_psql('postgres', on_error_stop => 0);
$caller->query_until(qr/begun/, "\\echo begun\nCALL penumbra.load_in_parts('large', '{id}');\n");
$node->reload foreach 1 .. 3;
$caller->query('SELECT 1');
is(ask(q{SELECT chunks FROM penumbra.tables WHERE relid = 'large'::regclass}), '34', 'a reload ends nothing');
$caller->quit;

$node->stop;
done_testing();
