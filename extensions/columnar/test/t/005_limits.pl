# What a query may take of memory, stack and temporary files.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '256MB'
penumbra.auto_load = off
autovacuum = off
max_wal_size = '4GB'
log_temp_files = 0
log_min_messages = debug1
jit = off
});
$node->start;

# ---- memory of all NUMA nodes alike, where the kernel has them and the container may ask for it

SKIP:
{
	my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
	my $maps = "/proc/$postmaster/numa_maps";

	skip 'no NUMA here', 1 if !-e $maps || slurp_file($node->logfile) =~ /not spread over NUMA nodes/;
	like(slurp_file($maps), qr/ interleave:/, 'cached columns are spread over the nodes');
}
$node->safe_psql('postgres', 'CREATE EXTENSION penumbra');

# Runs the query in a session of its own; returns its result and the peak of its memory in MB.
sub run_and_measure
{
	my ($query) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	my $result = $session->query_safe($query);
	my ($peak) = slurp_file("/proc/$pid/status") =~ /VmHWM:\s+(\d+) kB/;
	my ($shared) = slurp_file("/proc/$pid/status") =~ /RssShmem:\s+(\d+) kB/;
	$session->quit;
	$result =~ s/\A\s+//;
	return ($result, ($peak - $shared) / 1024);
}

# AddressSanitizer keeps what was freed.
sub is_bounded
{
	my ($peak, $limit, $what) = @_;
	note("$what: $peak MB");
  SKIP:
	{
		skip 'memory with AddressSanitizer', 1 if exists $ENV{ASAN_OPTIONS};
		cmp_ok($peak, '<', $limit, "$what: memory in MB");
	}
}

# ---- large values in the heap: a toast pointer is 18 bytes, so that a page can have 300 values of a megabyte

$node->safe_psql('postgres', q{
	CREATE TABLE wide (id int, s text);
	ALTER TABLE wide ALTER s SET STORAGE EXTERNAL;
	INSERT INTO wide SELECT i, CASE WHEN i % 250 = 0 THEN repeat(md5(i::text), 32768) ELSE 'short ' || i END
	FROM generate_series(1, 40000) i;
	VACUUM wide;
});
my %queries = (
	'a filter' => q{SELECT count(*) FROM wide WHERE s LIKE '%zzz%'},
	'an aggregate' => q{SELECT sum(length(s)) FROM wide},
	'a streaming scan' => q{SELECT count(*) FROM (SELECT s, id FROM wide WHERE id > 10 OFFSET 0) x WHERE length(s) > 0},
	'functions' => q{SELECT sum(length(reverse(s || 'x'))) FROM wide},
);
foreach my $what (sort keys %queries)
{
	my ($expected) = run_and_measure("SET penumbra.mode = 'off'; $queries{$what}");
	my ($result, $peak) = run_and_measure("SET penumbra.mode = 'prefer'; $queries{$what}");
	is($result, $expected, "$what: answer");
	is_bounded($peak, 80, $what);
}
my ($loaded, $loader_peak) =
  run_and_measure(q{SET client_min_messages = 'warning'; SELECT penumbra.load('wide') > 0});
is($loaded, 't', 'a table with large values is loaded');
my (undef, undef, $note) =
  $node->psql('postgres', q{SELECT penumbra.unload('wide'); SELECT penumbra.load('wide')});
like($note, qr/NOTICE:  1 page of relation "wide" is not cached because of large values/, 'with a note');
is_bounded($loader_peak, 300, 'loader');
is($node->safe_psql('postgres', q{SELECT sum(mismatches) FROM penumbra.verify('wide')}), '0', 'verified');
foreach my $what (sort keys %queries)
{
	my ($expected) = run_and_measure("SET penumbra.mode = 'off'; $queries{$what}");
	my ($result, $peak) = run_and_measure("SET penumbra.mode = 'prefer'; $queries{$what}");
	is($result, $expected, "$what, loaded: answer");
	is_bounded($peak, 200, "$what, loaded");
}

# A value that is larger than all that the query may use.
$node->safe_psql('postgres', q{
	CREATE TABLE giant (id int, s text);
	ALTER TABLE giant ALTER s SET STORAGE EXTENDED;
	INSERT INTO giant SELECT i, CASE WHEN i IN (500, 501) THEN repeat('x', 150000000) ELSE 'short' END
	FROM generate_series(1, 1000) i;
});
my $giant = q{SELECT count(*), max(length(u)) FROM (SELECT s || 'x' AS u FROM giant OFFSET 0) x};
my ($giants, $giant_peak) = run_and_measure("SET work_mem = '1MB'; SET penumbra.mode = 'prefer'; $giant");
is($giants, '1000|150000001', 'a giant value: answer');
is_bounded($giant_peak, 1500, 'a giant value');

# ---- less memory for cached columns, and more again, without a restart

$node->safe_psql('postgres', q{
	CREATE TABLE cached AS SELECT i AS a, md5(i::text) AS s, md5(i::text || 'x') AS u FROM generate_series(1, 1000000) i;
	VACUUM ANALYZE cached;
	SELECT penumbra.load('cached');
});
my $used = q{SELECT used_bytes >> 20 FROM penumbra.memory WHERE size_class = 'all'};
my $sums = q{SET penumbra.mode = 'prefer'; SELECT count(*), sum(a), max(s), max(u) FROM cached};
my $sums_before = $node->safe_psql('postgres', $sums);
cmp_ok($node->safe_psql('postgres', $used), '>', 64, 'more is cached than there will be room for');

sub set_target
{
	my ($target) = @_;
	$node->safe_psql('postgres', "ALTER SYSTEM SET penumbra.memory_target = '$target'");
	$node->reload;
}

# A query that has begun keeps what it reads: it sleeps ten times.
my $reader = $node->background_psql('postgres');
$reader->query_until(qr/begun/, q{SET penumbra.mode = 'prefer';
\\echo begun
SELECT count(s || u) FROM (SELECT a, s, u FROM cached OFFSET 0) x
WHERE CASE WHEN a % 100000 = 1 THEN pg_sleep(0.5) IS NOT NULL ELSE true END;
});
$node->poll_query_until('postgres', q{SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE query ~ '^SELECT count.s'});
set_target('32MB');
sleep 2;
cmp_ok($node->safe_psql('postgres', $used), '>', 64, 'what a query reads stays');
like($reader->query_safe('SELECT 1'), qr/1000000/, 'until it is at its end');
ok($node->poll_query_until('postgres', q{SELECT used_bytes <= 32 << 20 FROM penumbra.memory WHERE size_class = 'all'}), 'then it goes');
is($node->safe_psql('postgres', q{SELECT DISTINCT budget_bytes >> 20 FROM penumbra.memory}), '32', 'the budget says so');
is($node->safe_psql('postgres', $sums), $sums_before, 'answers with less');
$reader->quit;
set_target('1MB');
ok($node->poll_query_until('postgres', q{SELECT used_bytes <= 16 << 20 FROM penumbra.memory WHERE size_class = 'all'}),
	'too little for a chunk is what one may need');
set_target('0');
ok($node->poll_query_until('postgres', q{SELECT DISTINCT budget_bytes >> 20 = 256 FROM penumbra.memory}), 'all again');
$node->safe_psql('postgres', q{SELECT penumbra.load('cached')});
cmp_ok($node->safe_psql('postgres', $used), '>', 64, 'and all is cached again');
is($node->safe_psql('postgres', $sums), $sums_before, 'answers with all');

# ---- a database's own part of it: its loads evict no other database's columns

$node->safe_psql('postgres', q{CREATE DATABASE tenant});
$node->safe_psql('postgres', q{ALTER DATABASE tenant SET penumbra.database_memory = '32MB'});
$node->safe_psql('tenant', q{
	CREATE EXTENSION penumbra;
	CREATE TABLE first AS SELECT i AS a, md5(i::text) AS s, md5(i::text || 'x') AS u FROM generate_series(1, 600000) i;
	CREATE TABLE second AS SELECT * FROM first;
	VACUUM ANALYZE first, second;
});
sub cached_bytes { return $node->safe_psql($_[0], 'SELECT coalesce(sum(memory_bytes), 0) FROM penumbra.columns'); }
my $others_before = cached_bytes('postgres');
my (undef, undef, $warning) = $node->psql('tenant', q{SELECT penumbra.load('first')});
like($warning, qr/the column cache is full.*raise penumbra\.database_memory \(now 32 MB\)/s, 'a quota is used up');
# what is published is below the quota, or a chunk above it: 8 MB of heap
cmp_ok(cached_bytes('tenant'), '>', 20 << 20, 'it is used');
cmp_ok(cached_bytes('tenant'), '<=', 40 << 20, 'and holds');
my $first_bytes = $node->safe_psql('tenant', q{SELECT sum(memory_bytes) FROM penumbra.columns WHERE relid = 'first'::regclass});
$node->psql('tenant', q{SELECT penumbra.load('second', '{a}')});
cmp_ok($node->safe_psql('tenant', q{SELECT coalesce(sum(memory_bytes), 0) FROM penumbra.columns WHERE relid = 'first'::regclass}),
	'<', $first_bytes, 'its own columns make room');
is(cached_bytes('postgres'), $others_before, 'those of others stay');
my $tenants = 'SELECT count(*), sum(a), max(s), max(u) FROM first';
is($node->safe_psql('tenant', "SET penumbra.mode = 'prefer'; $tenants"),
	$node->safe_psql('tenant', "SET penumbra.mode = 'off'; $tenants"), 'answers with a quota');
$node->safe_psql('postgres', 'DROP DATABASE tenant');
$node->safe_psql('postgres', q{SELECT penumbra.unload('cached')});

# ---- temporary files

$node->safe_psql('postgres', q{
	CREATE TABLE many AS SELECT i AS a, md5(i::text) AS s FROM generate_series(1, 260000) i;
	VACUUM ANALYZE many;
	SELECT penumbra.load('many');
});
my $small = q{SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET penumbra.mode = 'require';};
for my $spills (
	[ aggregation => q{SELECT count(*) FROM (SELECT s, count(*) FROM many GROUP BY s OFFSET 0) x} ],
	[ sort => q{SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY s) AS n FROM many) x} ])
{
	my ($what, $spilling) = @$spills;
	my ($code, $out, $err) = $node->psql('postgres', "$small SET temp_file_limit = '2MB'; $spilling");
	isnt($code, 0, 'temp_file_limit holds');
	like($err, qr/ERROR:  temporary file size exceeds "?temp_file_limit"? \(2048kB\)/, 'with the message of PostgreSQL');
	($code, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$small SET temp_file_limit = '2MB'; $spilling");
	like($err, qr/ERROR:  53400:/, 'and its code');

	my $files = q{SELECT temp_files, temp_bytes FROM pg_stat_database WHERE datname = 'postgres'};
	$node->safe_psql('postgres', 'SELECT pg_stat_reset()');
	my $log_size = -s $node->logfile;
	is($node->safe_psql('postgres', "$small SET temp_file_limit = '200MB'; $spilling"), '260000', "a spilling $what");
	my ($count, $bytes) = split /\|/, $node->safe_psql('postgres', $files);
	cmp_ok($count, '>', 0, 'its files are counted');
	cmp_ok($bytes, '>', 1000000, 'and their bytes');
	my $log = slurp_file($node->logfile, $log_size);
	like($log, qr/LOG:  temporary file: path "[^"]*pgsql_tmp[^"]*penumbra\.0", size \d+/, 'and logged');
	my $logged = 0;
	$logged += $1 while $log =~ /temporary file: path "[^"]*penumbra\.\d+", size (\d+)/g;
	is($logged, $bytes, 'all of them');
}

# ---- deep and wide expressions; the stack of a thread has an end

my $terms = q{SELECT sum((a%s)::bigint) FROM many};
foreach my $depth (100, 300, 1200)
{
	is($node->safe_psql('postgres', sprintf($terms, '+1' x $depth)), 260000 * (260001 / 2 + $depth), "$depth terms");
}
my $explain = $node->safe_psql('postgres', 'EXPLAIN ' . sprintf($terms, '+1' x 1200));
like($explain, qr/Penumbra: (?:partly|not) used \(expression too deep\)/, 'EXPLAIN says why');
my %shapes = (
	'nested CASE' => 'SELECT sum(' . 'CASE WHEN a % 3 = 1 THEN 1 ELSE a + ' x 400 . '0' . ' END' x 400 . ') FROM many WHERE a < 3000',
	'AND and OR' => 'SELECT count(*) FROM many WHERE a < 3000 AND ' . '(a % 2 = 0 OR (a % 3 < 2 AND ' x 250 . 'a > 5' . '))' x 250,
	'a long OR' => 'SELECT count(*) FROM many WHERE a < 3000 AND (' . join(' OR ', map { "a = $_ * 7 OR s = '$_'" } 1 .. 300) . ')',
	'a long IN' => 'SELECT count(*) FROM many WHERE a IN (' . join(', ', map { $_ * 3 } 1 .. 50000) . ')',
	'a long concatenation' => 'SELECT max(length(s' . " || 'x'" x 1000 . ')) FROM many WHERE a < 1000',
);
foreach my $shape (sort keys %shapes)
{
	my ($mode_auto) = $node->safe_psql('postgres', "SET penumbra.mode = 'auto'; $shapes{$shape}");
	is($mode_auto, $node->safe_psql('postgres', "SET penumbra.mode = 'off'; $shapes{$shape}"), $shape);
}
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC/, 'nothing crashed');
$node->stop;

done_testing();
