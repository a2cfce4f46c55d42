# Every way to crash: crash file, report with function, file and line, log, unchanged end of the process, restart.
use strict;
use warnings;
use Config;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use Recovery;

my $folder = "$ENV{TESTDIR}/test/crash_sites";
my $library = "$folder/crash_sites";
my %line;
open(my $source, '<', "$folder/crash_sites.c") or die $!;
while (<$source>) { $line{$1} = $. if m{/\* site (\w+) \*/} }
close $source;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# A worker's library is named in at most 95 bytes, and paths are as long as they like.
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'penumbra_backtrace'
dynamic_library_path = '$folder:\$libdir'
restart_after_crash = on
logging_collector = off
});
$node->start;
my $directory = $node->data_dir . '/pg_crash';
ok(-d $directory, 'the directory is there');
$node->safe_psql('postgres', qq{
	CREATE EXTENSION penumbra_backtrace;
	CREATE FUNCTION crash(text) RETURNS void LANGUAGE c AS '$library';
	CREATE FUNCTION start_crashing_worker(text) RETURNS boolean LANGUAGE c AS '$library';
	CREATE FUNCTION crash_in_plpgsql(site text) RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM crash(site); END';
});

sub crash_files
{
	my %files = map { $_ => 1 } glob("$directory/pg_crash_*.txt");
	return \%files;
}

# Runs it, waits for the restart and for what is written about the crash. Returns file, report and the new log.
sub crash_by
{
	my ($name, $run) = @_;
	my $before = crash_files();
	my $log_position = -s $node->logfile;
	$run->();
	my $file;
	for (1 .. 200)
	{
		($file) = grep { !$before->{$_} } keys %{ crash_files() };
		last if $file;
		select(undef, undef, undef, 0.1);
	}
	ok($file, "$name: a crash file") or return ('', '', '');
	(my $report_file = $file) =~ s/\.txt$/.report/;
	for (1 .. 200)
	{
		last if -s $report_file;
		select(undef, undef, undef, 0.1);
	}
	Recovery::await_server($node);
	$file =~ /pg_crash_(\d+)_/;
	my $log = '';
	for (1 .. 200)
	{
		$log = slurp_file($node->logfile, $log_position);
		last if $log =~ /LOG:  process $1 crashed, crash file/;
		select(undef, undef, undef, 0.1);
	}
	like($log, qr/LOG:  process $1 crashed, crash file/, "$name: logged");
	return (slurp_file($file), slurp_file($report_file), $log);
}

# A new session has what the postmaster has read.
sub configure
{
	my ($setting, $value) = @_;
	$node->safe_psql('postgres', "ALTER SYSTEM SET penumbra_backtrace.$setting = $value");
	$node->reload;
	$node->poll_query_until('postgres', "SHOW penumbra_backtrace.$setting", $value) or die 'not reloaded';
}

sub crash_in_sql
{
	my ($query) = @_;
	return sub { $node->psql('postgres', $query) };
}

my @sites = (
	[ 'null_pointer', 11 ], [ 'inlined', 11 ], [ 'stack_overflow', 11 ], [ 'abort_process', 6 ],
	[ 'panic', 6 ], [ 'double_free', 6 ], [ 'jump_to_garbage', 11 ], [ 'bus_error', 7 ],
	[ 'illegal_instruction', 4 ], [ 'corrupt_heap', 11 ], [ 'broken_session', 11 ],
	[ 'die_of_self_sent_signal', 11 ]);
foreach (@sites)
{
	my ($site, $signal) = @$_;
	my ($file, $report, $log) = crash_by($site, crash_in_sql("SELECT crash('$site')"));
	like($file, qr/^penumbra crash 1\ntime: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\nsignal: $signal SIG/, "$site: its beginning");
	like($file, qr/^process_type: client backend$/m, "$site: process type");
	like($file, qr/\n\[registers\]\n(\w+ [0-9a-f]+\n){18,}\[stack\]\n(module .*\n)+(frame [0-9a-f]+ (exact|return)\n){8,}\n\z/,
		"$site: registers and a stack");
	like($file, qr/^module .* \[vdso\]$/m, "$site: modules without a frame");
	like($report, qr/^#\d+ 0x\w+ (\w+ at .*\(inlined\)\n#\d+ 0x\w+ )?$site at \S*crash_sites\.c:$line{ $site eq 'inlined' ? 'around_inlined' : $site }\b/m,
		"$site: function, file and line");
	like($log, qr/was terminated by signal $signal:/, "$site: the process ended as it would have");
	unlike($log, qr/server process \(PID \d+\) was terminated by signal (?!$signal)\d+/, "$site: and by nothing else");
	if ($site eq 'broken_session')
	{
		like($file, qr/^database: \d+\nuser: \d+\nserver_version: .*\n\[registers\]/m, 'of what cannot be read the rest');
	}
	else
	{
		like($file, qr/^database: postgres\n(user: \S+\n)server_version: \d.*\nquery: SELECT crash\('$site'\)$/m, "$site: session and query");
	}
	like($file, qr/^fault_address: 0$/m, 'fault address') if $site eq 'null_pointer';
	like($report, qr/inlined_store at \S*crash_sites\.c:$line{inlined} \(inlined\)\n.*\binlined at \S*crash_sites\.c:$line{around_inlined}\b/,
		'inlined into the function that is next') if $site eq 'inlined';
}

# A thread, whose stack is its own, and too small once.
my ($file, $report, $log);
foreach my $site ('null_pointer', 'stack_overflow', 'abort_process')
{
	($file, $report, $log) = crash_by("thread $site", crash_in_sql("SELECT crash('thread $site')"));
	like($file, qr/^thread: crashing thread\nprocess_type: client backend$/m, "thread $site: its name");
	like($file, qr/^query: SELECT crash/m, "thread $site: the query");
	like($report, qr/^#\d+ 0x\w+ $site at \S*crash_sites\.c:$line{$site}\b/m, "thread $site: where it was");
	like($report, qr/\bthread_main at \S*crash_sites\.c:$line{thread_main}\b/, "thread $site: its frames") if $site ne 'stack_overflow';
	unlike($report, qr/\bPostgresMain\b/, "thread $site: not those of the process's first thread");
	like($log, qr/was terminated by signal @{[ $site eq 'abort_process' ? 6 : 11 ]}:/, "thread $site: ended as it would have");
}

# Both the unwinder and the chain of frame pointers end at once; the crash is reported all the same.
($file, $report, $log) = crash_by('corrupt_stack', crash_in_sql("SELECT crash('corrupt_stack')"));
like($report, qr/\bcorrupt_stack at \S*crash_sites\.c:$line{corrupt_stack}\b/, 'corrupt_stack: where it was');
like($log, qr/was terminated by signal 11:/, 'corrupt_stack: ended as it would have');

($file, $report, $log) = crash_by('PL/pgSQL', crash_in_sql(q{SELECT crash_in_plpgsql('null_pointer') -- ä
}));
like($report, qr/\bnull_pointer at .*\bcrash at .*\bplpgsql\.so.*\bPostgresMain\b/s, 'PL/pgSQL: its frames');
like($file, qr/^query: SELECT crash_in_plpgsql\('null_pointer'\) -- \\xc3\\xa4/m, 'the query is one line of ASCII');

($file, $report, $log) = crash_by('worker', crash_in_sql("SELECT start_crashing_worker('crash_sites')"));
like($file, qr/^process_type: crashing worker$/m, 'worker: its type');
like($report, qr/\bnull_pointer at .*\bcrash_sites_worker_main at /s, 'worker: its frames');
unlike($file, qr/^query:/m, 'worker: no query');

# An auxiliary process, by a signal from outside.
my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'});
($file, $report, $log) = crash_by('checkpointer', sub { kill 'SEGV', $pid });
like($file, qr/^process_type: checkpointer$/m, 'checkpointer: its type');
like($report, qr/\bCheckpointerMain\b/, 'checkpointer: its frames');

# No query where that is not wanted.
configure('crash_query', 'off');
($file) = crash_by('no query', crash_in_sql(q{SELECT crash('null_pointer'), 'secret'}));
unlike($file, qr/secret/, 'no query where it is not wanted');

# Nobody can write there: the raw stack on standard error, and the same end.
my $log_position = -s $node->logfile;
chmod 0500, $directory;
SKIP:
{
	skip 'user may write everywhere', 2 if $> == 0;
	$node->psql('postgres', q{SELECT crash('null_pointer')});
	Recovery::await_server($node);
	$log = slurp_file($node->logfile, $log_position);
	like($log, qr/^penumbra_backtrace: process \d+ \(client backend\) crashed with signal 11 \(SIGSEGV\), no complete crash file could be written\n(module .*\n)+(frame .*\n)+/m,
		'unwritable directory: the stack on standard error');
	like($log, qr/was terminated by signal 11:/, 'unwritable directory: ended as it would have');
}
chmod 0700, $directory;

# Off: nothing but the end.
my $count = keys %{ crash_files() };
configure('crash_reports', 'off');
$node->psql('postgres', q{SELECT crash('null_pointer')});
Recovery::await_server($node);
is(scalar(keys %{ crash_files() }), $count, 'crash_reports = off: no file');
configure('crash_reports', 'on');

# Reports of crashes that nobody could log are logged at the next start, once.
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
my $before = crash_files();
$log_position = -s $node->logfile;
kill 'SEGV', $postmaster;
my $new;
for (1 .. 100)
{
	($new) = grep { !$before->{$_} } keys %{ crash_files() };
	last if $new;
	select(undef, undef, undef, 0.1);
}
ok($new, 'postmaster: a crash file');
like(slurp_file($new), qr/^process_type: postmaster$/m, 'postmaster: its type');
$node->stop('immediate', fail_ok => 1);
my $started = 0;
for (1 .. 60) { last if $started = $node->start(fail_ok => 1); sleep 1; }
ok($started, 'postmaster: starts again');
for (1 .. 100)
{
	$log = slurp_file($node->logfile, $log_position);
	last if $log =~ /process $postmaster crashed, crash file/;
	select(undef, undef, undef, 0.1);
}
like($log, qr/LOG:  process $postmaster crashed, crash file .*\n.*DETAIL: .*/, 'postmaster: logged at the next start');
$node->restart;
sleep 1;
$log = slurp_file($node->logfile, $log_position);
is(scalar(() = $log =~ /process $postmaster crashed, crash file/g), 1, 'and once');

# A full disk: the message alone, on standard error, here the collector's pipe.
$node->append_conf('postgresql.conf', "logging_collector = on\nlog_filename = 'server.log'\n");
$node->restart;
$node->psql('postgres', q{SELECT crash('no_space')});
Recovery::await_server($node);
$log = slurp_file($node->data_dir . '/log/server.log');
like($log, qr/crashed with signal 11 \(SIGSEGV\), no complete crash file could be written\n(module .*\n)+(frame .*\n)+/, 'full disk: the stack on standard error');
like($log, qr/was terminated by signal 11:/, 'full disk: ended as it would have');

# An unwinder that waits for ever, as for a lock that the crashed code holds: the chain of frame pointers, in bounded time.
$node->append_conf('postgresql.conf', "logging_collector = off\n");
$node->stop;
{
	local $ENV{LD_PRELOAD} = "$folder/hanging_unwinder.so";
	$node->start;
}
my $begin = time;
($file, $report, $log) = crash_by('hanging unwinder', crash_in_sql(q{SELECT crash('null_pointer')}));
like($report, qr/\bnull_pointer at .*\bPostgresMain\b/s, 'hanging unwinder: its frames') if $Config::Config{archname} =~ /x86_64/;
like($log, qr/was terminated by signal 11:/, 'hanging unwinder: ended as it would have');
cmp_ok(time - $begin, '<', 60, 'hanging unwinder: did not wait for ever');

# Told to quit while it reports, it ends the report first.
($file, $report, $log) = crash_by('told to quit', sub {
	my $before = crash_files();
	my $session = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', q{SELECT crash('null_pointer')} ],
		'>', '/dev/null', '2>', '/dev/null');
	my $written;
	until ($written) { ($written) = grep { -s $_ && !$before->{$_} } glob("$directory/pg_crash_*.txt"); }
	kill 'QUIT', $written =~ /pg_crash_(\d+)_/;
	$session->finish;
});
like($file, qr/^\[stack\]\n(module .*\n)+(frame .*\n)+\n\z/m, 'told to quit: the file is complete');
like($log, qr/was terminated by signal 11:/, 'told to quit: ended as it would have');

$node->stop;
done_testing();
