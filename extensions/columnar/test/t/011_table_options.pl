# What labels of tables tell the worker and eviction; pg_dump has them, a restart keeps them.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '16MB'
penumbra.disk_cache_size = '128MB'
autovacuum = off
fsync = on
});
$node->start;
sub ask { return $node->safe_psql('postgres', $_[0]); }
sub await { $node->poll_query_until('postgres', "SELECT $_[0]") or die "not reached: $_[0]"; }
sub activity { return ask("SELECT $_[0] FROM penumbra.activity"); }
my %tables = (one => 'one', two => q{"tw""o's Ä"});
ask('CREATE EXTENSION penumbra');
foreach my $name (sort keys %tables)
{
	ask(qq{CREATE TABLE $tables{$name} AS
		SELECT i AS a, encode(sha512(('$name' || i)::bytea), 'base64') AS u FROM generate_series(1, 110000) i});
	ask("VACUUM ANALYZE $tables{$name}");
}
# In memory: the size does not matter, nor what is on disk too.
sub bytes { return ask("SELECT coalesce(sum(memory_bytes), 0) FROM penumbra.columns WHERE relid = '" .
	($tables{$_[0]} =~ s/'/''/gr) . "'::regclass AND column_name = 'u'"); }
sub want
{
	my ($name, $times) = @_;
	ask("SELECT count(*), sum(length(u)) FROM $tables{$name}") foreach 1 .. $times;
	await('wanted_columns = 0 FROM penumbra.activity');
}

# never: the worker does not even start for it
ask("SECURITY LABEL FOR penumbra ON TABLE $tables{two} IS 'never'");
my $loads = activity('loads');
want('two', 3);
sleep 1;
is(activity('loads'), $loads, 'what is never cached is not wanted');
ask("SECURITY LABEL FOR penumbra ON TABLE $tables{two} IS NULL");
ask("SECURITY LABEL FOR penumbra ON COLUMN $tables{two}.a IS 'never'");
ask("SELECT count(*), sum(a), sum(length(u)) FROM $tables{two}");
await(q{count(*) = 1 FROM penumbra.columns WHERE relname ~ 'two|tw"o'});
is(ask(q{SELECT column_name FROM penumbra.columns}), 'u', 'a column that is never cached is left out');
ask("SECURITY LABEL FOR penumbra ON COLUMN $tables{two}.a IS NULL");
ask(q{SELECT penumbra.unload(c.oid) FROM pg_class c WHERE relname LIKE 'tw"o%'});

# pin: nothing takes its memory, however often it is wanted, nor by hand
ask('SECURITY LABEL FOR penumbra ON TABLE one IS \'pin\'');
ask(q{SELECT penumbra.load('one', '{u}')});
my $pinned = bytes('one');
cmp_ok($pinned, '>', 8 << 20, 'a pinned table is loaded');
want('two', 16) foreach 1 .. 2;
is(bytes('one'), $pinned, 'what others want does not take its memory');
ask(q{SELECT penumbra.load(c.oid, '{u}') FROM pg_class c WHERE relname LIKE 'tw"o%'});
is(bytes('one'), $pinned, 'nor does a load by hand');

# after a restart too, where it comes back from disk first, however often the other one is used
ask("SET penumbra.mode = 'prefer'; SELECT count(*), sum(length(u)) FROM $tables{two}") foreach 1 .. 3;
await(q{NOT is_pending FROM penumbra.disk});
$node->restart;
await("sum(memory_bytes) = $pinned FROM penumbra.columns WHERE relname = 'one' AND column_name = 'u'");
$node->psql('postgres', q{SELECT penumbra.load(c.oid, '{u}') FROM pg_class c WHERE relname LIKE 'tw"o%'});
is(bytes('one'), $pinned, 'it is pinned after a restart');

# less memory: pinned tables go last, but they go
ask('ALTER SYSTEM SET penumbra.memory = \'32MB\'');
$node->restart;
await("sum(memory_bytes) = $pinned FROM penumbra.columns WHERE relname = 'one' AND column_name = 'u'");
ask(q{ALTER SYSTEM SET penumbra.memory_target = '1MB'});
$node->reload;
await(q{max(used_bytes) <= 16 << 20 FROM penumbra.memory});
pass('a lower target holds for pinned tables, too');
ask('ALTER SYSTEM RESET ALL');

# priority: of two tables that are used equally the more important one stays
$node->adjust_conf('postgresql.conf', 'penumbra.disk_cache_size', '0');
$node->restart;
ask('SECURITY LABEL FOR penumbra ON TABLE one IS NULL');
await('wanted_columns = 0 FROM penumbra.activity');
ask(q{SELECT penumbra.unload(c.oid) FROM pg_class c WHERE relname LIKE 'tw"o%' OR relname = 'one'});
want('one', 4);
cmp_ok(bytes('one'), '>', 8 << 20, 'the first is loaded');
ask("SECURITY LABEL FOR penumbra ON TABLE $tables{two} IS 'priority=16'");
foreach (1 .. 2)
{
	want($_, 1) foreach 'two', 'one';
}
cmp_ok(bytes('two'), '>', 8 << 20, 'the second takes its place, as its wishes count more');
my $kept = bytes('two');
want('one', 8);
is(bytes('two'), $kept, 'and keeps it, as its uses do');

# pg_dump has the labels
ask("SECURITY LABEL FOR penumbra ON COLUMN $tables{two}.a IS 'never'");
ask('CREATE DATABASE copy');
$node->command_ok(['pg_dump', '-s', '-Fc', '-f', $node->basedir . '/dump', $node->connstr('postgres')], 'pg_dump');
$node->command_ok(['pg_restore', '-e', '-d', $node->connstr('copy'), $node->basedir . '/dump'], 'pg_restore');
my $labels = q{SELECT string_agg(objtype || ' ' || objname || ' ' || label, ', ' ORDER BY objname) FROM pg_seclabels};
is($node->safe_psql('copy', $labels), ask($labels), 'labels are restored');
like(ask($labels), qr/table .*priority=16/, 'there are some');
is(activity('errors'), '0', 'no errors');

$node->stop;
done_testing();
