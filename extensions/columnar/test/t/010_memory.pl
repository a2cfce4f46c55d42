# A server starts with every value of penumbra.memory, and with less address space and memory than it asks for.
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
penumbra.disk_cache_size = '64MB'
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra;
	CREATE TABLE t AS SELECT i AS a, md5(i::text) AS s FROM generate_series(1, 100000) i;
	VACUUM ANALYZE t;
});
my $sum = 'SELECT count(*), sum(a), max(s) FROM t';
my $answer = $node->safe_psql('postgres', $sum);
my $budget = q{SELECT DISTINCT budget_bytes >> 20 FROM penumbra.memory};

# What the server is started by; returns what it wrote to its log.
sub restart_with
{
	my ($memory, $shell) = @_;
	my $log_size = -s $node->logfile;
	$node->stop;
	$node->adjust_conf('postgresql.conf', 'penumbra.memory', $memory);
	if ($shell)
	{
		my @start = ('pg_ctl', '-w', '-s', '-D', $node->data_dir, '-l', $node->logfile, 'start');
		PostgreSQL::Test::Utils::system_or_bail('bash', '-c', "$shell; exec \"\$@\"", 'bash', @start);
		$node->_update_pid(1);
	}
	else
	{
		$node->start;
	}
	return slurp_file($node->logfile, $log_size);
}
sub has_no_cache
{
	my ($what) = @_;
	is($node->safe_psql('postgres', $sum), $answer, "$what: answer");
	unlike($node->safe_psql('postgres', "EXPLAIN $sum"), qr/Penumbra/, "$what: no plan of ours");
	is($node->safe_psql('postgres', "SET penumbra.mode = 'prefer'; $sum"), $answer, "$what: answer where it is preferred");
	my (undef, undef, $error) = $node->psql('postgres', q{SELECT penumbra.load('t')});
	like($error, qr/does not exist, because penumbra\.memory is 0 or could not be had/, "$what: no load");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ 'penumbra'}), '0',
		"$what: no process of ours");
	$node->safe_psql('postgres', 'DROP EXTENSION penumbra; CREATE EXTENSION penumbra');
}
sub has_cache
{
	my ($what, $memory) = @_;
	my $got = $node->safe_psql('postgres', $budget);
	$memory eq 'some' ? cmp_ok($got, '>=', 16, "$what: a budget") : is($got, $memory, "$what: the budget");
	$node->safe_psql('postgres', q{SELECT penumbra.load('t')});
	is($node->safe_psql('postgres', "SET penumbra.mode = 'require'; $sum"), $answer, "$what: answer");
}

unlike(restart_with("'0'"), qr/WARNING/, 'no cache is wanted');
has_no_cache('0');
like(restart_with("'1MB'"), qr/WARNING:  1 MB are too little for one chunk of a table/, 'too little is said');
has_no_cache('too little');
like(restart_with("'1000TB'"), qr/WARNING:  penumbra\.memory = \d+ MB is more than the \d+ MB that this machine/, 'too much is said');
has_cache('too much', 'some');
foreach my $value (qw(-5 1e30GB lots NaN 16XB), '')
{
	like(restart_with("'$value'"), qr/WARNING:  .*penumbra\.memory/, "\"$value\" is said to be no size");
	has_cache("\"$value\"", 'some');
}

# Each size has 38 times as much address space: with less the cache is smaller.  (AddressSanitizer needs more than that.)
SKIP:
{
	skip 'address space with AddressSanitizer', 5 if exists $ENV{ASAN_OPTIONS};
	my $log = restart_with("'1GB'", 'ulimit -v 12000000');
	like($log, qr/WARNING:  could not reserve address space for penumbra\.memory = 1024 MB/, 'less address space is said');
	like($log, qr/DETAIL:  Cached columns take up to 256 MB/, 'with what could be had');
	has_cache('less address space', 256);
}

# A limit on the size of files is none on memory.
restart_with("'64MB'", 'ulimit -f 20000');
has_cache('a limit on files', 64);

# What ALTER SYSTEM accepts is not too little.
restart_with("'64MB'");
foreach my $value (qw(1MB 15MB -1))
{
	my ($code) = $node->psql('postgres', "ALTER SYSTEM SET penumbra.memory = '$value'");
	isnt($code, 0, "ALTER SYSTEM refuses $value");
}
foreach my $value (qw(0 16MB 1000TB))
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET penumbra.memory = '$value'");
	$node->restart;
	is($node->safe_psql('postgres', $sum), $answer, "what ALTER SYSTEM accepts starts: $value");
}
$node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
$node->restart;

# The range is no memory that the kernel counts before it is used: neither writable and private, nor an anonymous one
# of its whole size.
my ($postmaster) = split /\n/, slurp_file($node->data_dir . '/postmaster.pid');
my $range = (grep { /^\S+ rw-s .*penumbra/ } split /\n/, slurp_file("/proc/$postmaster/maps"))[0];
like($range, qr{/memfd:penumbra}, 'the range is a file in memory, shared');
SKIP:
{
	skip 'the kernel has no smaps', 1 if !-r "/proc/$postmaster/smaps";
	my ($flags) = slurp_file("/proc/$postmaster/smaps") =~ /memfd:penumbra.*?VmFlags: ([^\n]*)/s;
	unlike($flags, qr/\bac\b/, 'and is not accounted for');
}

$node->stop;
done_testing();
