# Expressions that are columns of the cache: their numbers and texts outlive restarts, with their columns on disk or not.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '64MB'
penumbra.disk_cache_size = '64MB'
penumbra.auto_load = off
autovacuum = off
fsync = on
});
$node->start;
my $list = $node->data_dir . '/penumbra/expressions';

sub ask { my ($query) = @_; return $node->safe_psql('postgres', $query); }
sub await
{
	my ($condition) = @_;
	$node->poll_query_until('postgres', "SELECT $condition") or die "not reached: $condition";
}
sub answer { my ($mode) = @_; return ask("SET penumbra.mode = $mode; SELECT doc->>'kind', count(*) FROM events GROUP BY 1 ORDER BY 1"); }

my $path = "ARRAY['doc->>''kind''']";
my $covered = "SELECT pages_from_cache > 0, pages_from_heap FROM penumbra.explain_coverage('events', $path)";
my $columns = q{SELECT string_agg(column_name, ', ' ORDER BY column_name) FROM penumbra.columns};

ask(q{
	CREATE EXTENSION penumbra;
	CREATE TABLE events AS
	SELECT i AS id, jsonb_build_object('kind', 'k' || i % 7, 'n', i) AS doc, ARRAY[i % 5, i % 3] AS tags
	FROM generate_series(1, 100000) i;
	VACUUM ANALYZE events;
});
ask("SELECT penumbra.load('events', ARRAY['cardinality(tags)', 'doc->>''n''', 'doc->>''kind''', 'id'])");
my $expected = answer('off');
my $all = q{(doc ->> 'kind'::text), (doc ->> 'n'::text), cardinality(tags), id};
is(answer('require'), $expected, 'loaded');
is(ask($columns), $all, 'shown');

await('NOT is_pending AND saved_chunks > 0 FROM penumbra.disk');
$node->restart;
await(q{state = 'open' FROM penumbra.disk});
await('wanted_columns = 0 FROM penumbra.activity');
is(ask($columns), $all, 'on disk after a restart');
is(ask($covered), 't|0', 'and served');
is(answer('require'), $expected, 'with the same answer');
is(ask(q{SELECT count(*), sum(mismatches) FROM penumbra.verify('events')}), '4|0', 'verified');

# Another expression gets a number of its own.
ask(q{SELECT penumbra.load('events', ARRAY['doc->>''other'''])});
is(ask($covered), 't|0', 'the others stay');

# A text that does not have its hash is not read, and nothing is served by its number.
await('NOT is_pending FROM penumbra.disk');
$node->stop;
my $lines = slurp_file($list);
like($lines, qr/^\d+ \d+ \d+ [0-9a-f]+ \{OPEXPR/m, 'expressions stand in their file');
$lines =~ s/:vartype 3802/:vartype 3807/g;
open my $file, '>', $list or die;
print $file $lines;
close $file;
$node->start;
await(q{state = 'open' FROM penumbra.disk});
is(ask($columns), 'cardinality(tags), id', 'damaged expressions are gone');
is(answer('require'), $expected, 'the answer is not');
ask("SELECT penumbra.load('events', $path)");
is(ask($covered), 't|0', 'and they can be loaded again');

# Without a disk cache the worker loads what was cached before.
$node->append_conf('postgresql.conf', "penumbra.disk_cache_size = 0\npenumbra.auto_load = on");
$node->restart;
ask("SELECT penumbra.load('events', $path), penumbra.load('events', ARRAY['id'])");
$node->restart;
await('wanted_columns = 0 FROM penumbra.activity');
await('count(*) = 2 FROM penumbra.columns');
is(ask($covered), 't|0', 'loaded by the worker');
is(answer('require'), $expected, 'with the same answer');

done_testing();
