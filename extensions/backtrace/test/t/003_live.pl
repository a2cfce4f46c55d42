# The stack of a running process, by a signal and by ptrace; everything that can be in the way.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = "$ENV{TESTDIR}/test/crash_sites";
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra_backtrace'
});
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION penumbra_backtrace;
	CREATE FUNCTION spin(text) RETURNS void LANGUAGE c AS '$folder/crash_sites';
	CREATE ROLE nobody LOGIN; CREATE ROLE trusted LOGIN;
	GRANT EXECUTE ON FUNCTION backtrace TO trusted;
});

sub functions_of
{
	my ($pid, $method, @options) = @_;
	$method //= 'signal';
	my ($rc, $out, $err) = $node->psql('postgres',
		"SELECT string_agg(function, ' ' ORDER BY frame) FROM backtrace($pid, '$method')", @options);
	return $out . $err;
}

# Sessions spin until their file is there.
my $outside = PostgreSQL::Test::Utils::tempdir;
sub end_spinning
{
	open(my $file, '>', "$outside/$_[0]") or die $!;
	close $file;
}

sub start_session
{
	my ($query) = @_;
	my $handle = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', $query ],
		'>', \my $out, '2>', \my $err);
	$node->poll_query_until('postgres',
		qq{SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%mark%' AND pid <> pg_backend_pid()})
		or die 'the session did not start';
	return ($handle, $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%mark%' AND pid <> pg_backend_pid()}));
}

like(functions_of('pg_backend_pid()'), qr/penumbra_backtrace_sql_live .*PostgresMain .*main/, 'of itself');

# A loop that looks at no interrupt.
my ($handle, $pid) = start_session("SELECT spin('$outside/first') /* mark */");
like(functions_of($pid), qr/spin_until spin .*PostgresMain/, 'a backend that computes');
like($node->safe_psql('postgres', "SELECT location FROM backtrace($pid) WHERE function = 'spin'"),
	qr/crash_sites\.c:\d+$/, 'with file and line');
my $ptrace = functions_of($pid, 'ptrace');
SKIP:
{
	skip 'ptrace is not permitted here', 1 if $ptrace =~ /not permitted/;
	like($ptrace, qr/spin_until spin .*PostgresMain/, 'by ptrace too');
}
my $many = join(' UNION ALL ', ("SELECT count(*) > 3 AS c FROM backtrace($pid)") x 30);
is($node->safe_psql('postgres', "SELECT bool_and(c) FROM ($many) m"), 't', 'thirty times');
my @requesters = map { IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c',
	"SELECT count(*) > 3 FROM backtrace($pid)" ], '>', \my $o, '2>', \my $e) } 1 .. 6;
is(scalar(grep { !$_->finish } @requesters), 0, 'six at once');
end_spinning('first');
ok($handle->finish, 'and its query ended well');

# Waiting in the kernel, and its wait goes on.
($handle, $pid) = start_session('SELECT pg_sleep(10) /* mark */');
# WaitLatch may be inlined where the server was optimised at link time.
like(functions_of($pid), qr/WaitEventSetWait .*pg_sleep .*PostgresMain/, 'a backend that sleeps');
ok($handle->finish, 'and its sleep ended well');

# Other processes.
foreach my $type ('checkpointer', 'walwriter', 'autovacuum launcher')
{
	my $other = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = '$type'");
	like(functions_of($other), qr/\bmain\b/, $type);
}
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
like(functions_of($postmaster), qr/PostmasterMain main/, 'the postmaster');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'checkpointer'}), '1', 'all live on');

# What is no server process is not touched.
my $stranger = IPC::Run::start([ 'sleep', '100' ]);
my $stranger_pid = $stranger->{KIDS}[0]{PID};
like(functions_of($_), qr/ERROR:  PID $_ is not a PostgreSQL server process/, "PID $_") foreach (1, 0, -1, 4194304, $stranger_pid);
like(functions_of($stranger_pid, 'ptrace'), qr/ERROR:  PID $stranger_pid is not a PostgreSQL server process/, 'nor traced');
ok($stranger->pumpable, 'a stranger lives on');
$stranger->kill_kill;
like(functions_of('pg_backend_pid()', 'x'), qr/unrecognized method: "x"/, 'unknown method');

# Rights.
like(functions_of('pg_backend_pid()', 'signal', extra_params => [ '-U', 'nobody' ]), qr/permission denied for function backtrace/, 'no right');
like(functions_of('pg_backend_pid()', 'signal', extra_params => [ '-U', 'trusted' ]), qr/PostgresMain/, 'granted right');

# A stopped process does not answer: bounded, by ptrace if that is permitted; and it goes on.
($handle, $pid) = start_session("SELECT spin('$outside/second') /* mark */");
kill 'STOP', $pid;
like(functions_of($pid), qr/ERROR:  process $pid did not answer within 2 seconds.*HINT:.*ptrace/s, 'a stopped process');
kill 'CONT', $pid;
like(functions_of($pid), qr/spin_until/, 'goes on, and answers');

# Whoever finds no slot waits for one: a stopped process keeps its requesters waiting.
sub request
{
	my ($target) = @_;
	return IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', "SELECT count(*) > 3 FROM backtrace($target) /* request */" ],
		'>', '/dev/null', '2>', '/dev/null');
}
kill 'STOP', $pid;
my @waiting = map { request($pid) } 1 .. 8;
# They wait two seconds; were they slower than that, the ninth has nothing to wait for.
for (1 .. 20)
{
	last if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%request%' AND wait_event = 'Extension'}) == 8;
}
like(functions_of('pg_backend_pid()'), qr/PostgresMain/, 'a ninth request');
kill 'CONT', $pid;
$_->finish foreach @waiting;
my @sixty = map { request($pid) } 1 .. 60;
is(scalar(grep { !$_->finish } @sixty), 0, 'sixty at once');

# The requester is cancelled while it waits.
kill 'STOP', $pid;
my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '300ms'; SELECT count(*) FROM backtrace($pid)");
like($err, qr/canceling statement due to statement timeout/, 'the wait can be cancelled');

# The target dies while it is asked.
my $requester = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', "SELECT count(*) FROM backtrace($pid)" ],
	'>', \$out, '2>', \$err);
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE '%FROM backtrace%' AND pid <> pg_backend_pid()});
kill 'TERM', $pid;
kill 'CONT', $pid;
$requester->finish;
end_spinning('second');
# It may have answered before it looked at its interrupts.
like($out . $err, qr/process $pid ended before it answered|^\d+$|is not a PostgreSQL server process/, 'a target that ends');
$handle->finish;

# All slots are free again.
is($node->safe_psql('postgres', "SELECT bool_and(c) FROM (" . join(' UNION ALL ',
	("SELECT count(*) > 3 AS c FROM backtrace(pg_backend_pid())") x 20) . ") m"), 't', 'no slot is lost');

# A process without the library is not signalled.
my $bare = PostgreSQL::Test::Cluster->new('bare');
$bare->init;
$bare->append_conf('postgresql.conf', "restart_after_crash = off\n");
$bare->start;
$bare->safe_psql('postgres', 'CREATE EXTENSION penumbra_backtrace');
($rc, $out, $err) = $bare->psql('postgres', 'SELECT * FROM backtrace(pg_backend_pid())');
like($err, qr/penumbra_backtrace was not loaded at server start.*HINT:.*shared_preload_libraries/s, 'not preloaded');
$bare->stop;
$node->stop;
done_testing();
