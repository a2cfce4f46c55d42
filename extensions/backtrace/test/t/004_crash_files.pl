# What others may have put into the directory of crash files; many crashes at once.
use strict;
use warnings;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use FindBin;
use lib $FindBin::RealBin;
use Recovery;

my $folder = "$ENV{TESTDIR}/test/crash_sites";
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra_backtrace'
restart_after_crash = on
logging_collector = off
max_connections = 100
});
$node->start;
$node->safe_psql('postgres', "CREATE FUNCTION crash(text) RETURNS void LANGUAGE c AS '$folder/crash_sites'");
my $directory = $node->data_dir . '/pg_crash';
my $outside = PostgreSQL::Test::Utils::tempdir;
my $nobody = 4194304;    # no process has this number, nor a higher one

sub write_file
{
	my ($path, $text) = @_;
	open(my $file, '>', $path) or die "$path: $!";
	print $file $text;
	close $file;
}

# Returns whether it became true.
sub wait_for
{
	my ($condition) = @_;
	for (1 .. 600)
	{
		return 1 if $condition->();
		select(undef, undef, undef, 0.1);
	}
	return 0;
}

sub log_since { return slurp_file($node->logfile, $_[0]); }

# Files that the worker meets when it starts.
my $crash = "penumbra crash 1\nsignal: 11 SIGSEGV\npid: $nobody\n[registers]\n[stack]\n\n";
$node->stop;
write_file("$outside/secret", 'secret words');
symlink("$outside/secret", "$directory/pg_crash_${nobody}_1000.txt") or die $!;
link("$outside/secret", "$directory/pg_crash_${nobody}_1001.txt") or die $!;
POSIX::mkfifo("$directory/pg_crash_${nobody}_1002.txt", 0600) or die $!;
write_file("$directory/pg_crash_${nobody}_1003.txt", $crash);
write_file("$outside/victim", 'precious');
symlink("$outside/victim", "$directory/pg_crash_${nobody}_1003.report") or die $!;
write_file("$directory/pg_crash_${nobody}_1004.txt", $crash);
POSIX::mkfifo("$directory/pg_crash_${nobody}_1004.report", 0600) or die $!;
write_file("$directory/pg_crash_1\nLOG:  forged_1005.txt", $crash);
write_file("$directory/pg_crash_${nobody}_1006.txt", '');
write_file("$directory/pg_crash_${nobody}_1006.report", '');
symlink("$outside/victim", "$directory/logged") or die $!;
my $position = -s $node->logfile;
$node->start;
ok(wait_for(sub { log_since($position) =~ /crash file ".*_1003\.txt"/ && log_since($position) =~ /crash file ".*_1004\.txt"/ }),
	'crashes whose reports are a link and a FIFO are logged');
ok(wait_for(sub { -f "$directory/logged" && !-l "$directory/logged" }), 'a link in place of the list is replaced');
is(slurp_file("$directory/logged"), "pg_crash_${nobody}_1003.txt\npg_crash_${nobody}_1004.txt\n", 'the list');
is(slurp_file("$outside/victim"), 'precious', 'what links lead to is not written');
unlike(log_since($position), qr/secret words/, 'nor logged');
unlike(log_since($position), qr/^LOG:  forged/m, 'a name is no line of the log');
like(slurp_file("$directory/pg_crash_${nobody}_$_.report"), qr/was ended by signal 11/, "report $_") foreach (1003, 1004);
ok(!-e "$directory/pg_crash_${nobody}_1006.$_", "an empty crash file leaves no $_") foreach ('txt', 'report');

# A FIFO in place of the list.
$node->stop;
unlink("$directory/logged");
POSIX::mkfifo("$directory/logged", 0600) or die $!;
$position = -s $node->logfile;
$node->start;
ok(wait_for(sub { -f "$directory/logged" }), 'a FIFO in place of the list is replaced');
like(log_since($position), qr/crash file ".*_1003\.txt"/, 'what was logged is not known then');
unlink(glob("$directory/pg_crash_${nobody}_*"), "$directory/pg_crash_1\nLOG:  forged_1005.txt");

# Sessions that are connected, and crash when the file is there. Returns their handles.
sub sessions_until
{
	my ($count, $file) = @_;
	my $wait = "DO \$\$ BEGIN WHILE pg_stat_file('$file', true) IS NULL LOOP PERFORM pg_sleep(0.1); END LOOP; END \$\$";
	my @handles = map { IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', $wait,
		'-c', q{SELECT crash('null_pointer')} ], '>', '/dev/null', '2>', '/dev/null') } 1 .. $count;
	$node->poll_query_until('postgres', "SELECT count(*) = $count FROM pg_stat_activity WHERE query LIKE 'DO %'")
		or die 'the sessions did not start';
	return @handles;
}

# In place of the report that a crashing process starts.
foreach my $kind ('a link', 'a FIFO')
{
	my $go = "$outside/go $kind";
	my ($handle) = sessions_until(1, $go);
	my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE query LIKE 'DO %'});
	foreach my $time (time .. time + 120)
	{
		my $path = "$directory/pg_crash_${pid}_$time.report";
		$kind eq 'a link' ? symlink("$outside/victim", $path) : POSIX::mkfifo($path, 0600) or die $!;
	}
	$position = -s $node->logfile;
	write_file($go, '');
	ok(wait_for(sub { log_since($position) =~ /process $pid crashed, crash file/ }), "$kind in place of the report: logged")
		or kill 'KILL', $pid;
	$handle->finish;
	like(log_since($position), qr/\(PID $pid\) was terminated by signal 11:/, "$kind in place of the report: ended as it would have");
	my ($file) = glob("$directory/pg_crash_${pid}_*.txt");
	(my $report = $file) =~ s/txt$/report/;
	ok(-f $report && !-l $report, "$kind in place of the report: replaced");
	is(slurp_file("$outside/victim"), 'precious', "$kind in place of the report: not written");
	unlink glob("$directory/pg_crash_${pid}_*");
	Recovery::await_server($node);
}

# The first crash has the postmaster end the others, which are writing about their own.
my @handles = sessions_until(40, "$outside/storm");
$position = -s $node->logfile;
write_file("$outside/storm", '');
$_->finish foreach @handles;
Recovery::await_server($node);
my @files = glob("$directory/pg_crash_*.txt");
cmp_ok(scalar(@files), '>', 0, scalar(@files) . ' of 40 sessions crashed before they were ended');
my @incomplete = grep { slurp_file($_) !~ /\npid: \d+\n.*\n\[stack\]\n(module .*\n)+(frame .*\n){8,}\n\z/s } @files;
is("@incomplete", '', 'every crash file is complete');
ok(wait_for(sub { my @lines = log_since($position) =~ /process \d+ crashed, crash file/g; @lines == @files }), 'every crash is logged');
s/txt$/report/ foreach @files;
is(scalar(grep { -s $_ } @files), scalar(@files), 'and has a report');

$node->stop;
done_testing();
