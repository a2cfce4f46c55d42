# Stacks of errors: which, in all formats of the log, once, counted, never to the client; a symboliser that fails.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = "$ENV{TESTDIR}/test/crash_sites";
my ($site_line) = map { /site raise_error/ ? $_ : () } do { open(my $f, '<', "$folder/crash_sites.c") or die; my $n = 0; map { $n++; /site raise_error/ ? "$n site raise_error" : () } <$f> };
$site_line =~ s/ .*//;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra_backtrace'
max_connections = 120
});
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION penumbra_backtrace;
	CREATE FUNCTION fail(text) RETURNS void LANGUAGE c AS '$folder/crash_sites', 'fail';
	CREATE FUNCTION catch(state text, times integer) RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR i IN 1 .. times LOOP
			BEGIN PERFORM fail(state); EXCEPTION WHEN OTHERS THEN NULL; END;
		END LOOP;
	END \$\$;
	CREATE FUNCTION catch_and_raise(state text) RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		PERFORM fail(state);
	EXCEPTION WHEN OTHERS THEN
		PERFORM catch(state, 3);
		RAISE;
	END \$\$;
	CREATE ROLE nobody LOGIN; CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
});

my $counts = q{SELECT string_agg(sqlstate || ':' || count, ',' ORDER BY sqlstate, count) FROM backtrace_errors};
my $settled = q{SELECT coalesce(bool_and(symbolised), false) FROM backtrace_errors};

# Runs queries in a fresh session after a reset, waits for the worker; returns counts, standard error, new log.
sub errors_of
{
	my ($setting, @queries) = @_;
	$node->safe_psql('postgres', 'SELECT backtrace_errors_reset()');
	my $position = -s $node->logfile;
	my ($out, $err) = ('', '');
	$node->psql('postgres', join("\n", "SET penumbra_backtrace.on_error = $setting;", map { "$_;" } @queries),
		stderr => \$err, on_error_stop => 0);
	my $result = $node->safe_psql('postgres', $counts);
	$node->poll_query_until('postgres', $settled) if $result ne '';
	return ($result, $err, slurp_file($node->logfile, $position));
}

my ($result, $err, $log) = errors_of("'internal'", q{SELECT fail('XX000')}, q{SELECT fail('XX000')}, q{SELECT fail('XX001')}, q{SELECT 1/0});
is($result, 'XX000:2,XX001:1', 'internal: class XX, counted');
like($log, qr/LOG:  backtrace of error XX000 in process \d+ \(client backend\), stack [0-9a-f]{16}\n.*DETAIL:  #0 0x[0-9a-f]+ raise_error at \S*crash_sites\.c:\d+\n\t#1 0x[0-9a-f]+ fail at /,
	'its own line, with symbols');
is(scalar(() = $log =~ /backtrace of error XX000/g), 1, 'once');
unlike($err, qr/raise_error|backtrace|0x/, 'nothing for the client');
$node->safe_psql('postgres', q{SET client_min_messages = debug5; SELECT 1});
like($node->safe_psql('postgres', q{SELECT frames FROM backtrace_errors WHERE sqlstate = 'XX000'}),
	qr/^#0 0x[0-9a-f]+ raise_error at \S*crash_sites\.c:(\d+)\n/, 'the view has the frames');
$node->safe_psql('postgres', q{SELECT frames FROM backtrace_errors WHERE sqlstate = 'XX000'}) =~ /crash_sites\.c:(\d+)/;
cmp_ok(abs($1 - $site_line), '<=', 2, 'the line of the ereport()');

($result) = errors_of("off", q{SELECT fail('XX000')});
is($result, '', 'off');
($result) = errors_of("'all'", q{SELECT fail('XX000')}, q{SELECT 1/0}, q{SELECT nothing}, q{DO 'BEGIN RAISE WARNING ''w''; END'});
is($result, '22012:1,42703:1,XX000:1', 'all: errors of any kind, no warnings');
($result) = errors_of("'22, 42703'", q{SELECT fail('XX000')}, q{SELECT 1/0}, q{SELECT nothing}, q{SELECT 'x'::int});
is($result, '22012:1,22P02:1,42703:1', 'a class and an SQLSTATE');
($result) = errors_of("'internal, 22012'", q{SELECT fail('XX002')}, q{SELECT 1/0}, q{SELECT nothing});
is($result, '22012:1,XX002:1', 'internal in a list');
($result) = errors_of("off", q{SET penumbra_backtrace.functions = 'int4div, raise_error'}, q{SELECT fail('22000')}, q{SELECT 1/0}, q{SELECT 'x'::int});
is($result, '22000:1,22012:1', 'by the name of the function');
foreach ("'XX00'", "'all,'", "'xx'", "'22012;'")
{
	my ($rc, $out, $err) = $node->psql('postgres', "SET penumbra_backtrace.on_error = $_");
	like($err, qr/invalid value for parameter "penumbra_backtrace.on_error"/, "refused: $_");
}

# Caught, raised again after others of the same place were caught, at different depths.
($result) = errors_of("'all'", q{SELECT catch('XX000', 1000)});
is($result, '', 'caught errors are not reported');
($result, $err, $log) = errors_of("'all'", q{SELECT catch_and_raise('XX000')}, q{SELECT catch_and_raise('XX000')});
is($result, 'XX000:2', 'raised again');
($result) = errors_of("'all'", (q{SELECT fail('XX000')}) x 50, (q{SELECT (SELECT fail('XX000') FROM pg_class LIMIT 1)}) x 50);
is($result, 'XX000:50,XX000:50', 'another way is another stack');

# One stack in all processes.
$node->safe_psql('postgres', 'SELECT backtrace_errors_reset()');
my $script = $node->basedir . '/fail.sql';
append_to_file($script, "SET penumbra_backtrace.on_error = 'XX001';\nDO \$\$ BEGIN PERFORM fail('XX001'); EXCEPTION WHEN division_by_zero THEN NULL; END \$\$;\n");
my @sessions = map { IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), (map { ('-f', $script) } 1 .. 5) ],
	'>', \my $o, '2>', \my $e) } 1 .. 100;
$_->finish foreach @sessions;
is($node->safe_psql('postgres', $counts), 'XX001:500', '500 errors of 100 sessions: one stack');
ok($node->poll_query_until('postgres', $settled), 'and symbolised');

# Who may look.
my ($rc, $out);
($rc, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM backtrace_errors', extra_params => [ '-U', 'nobody' ]);
like($err, qr/permission denied/, 'not everybody may look');
($rc, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM backtrace_errors', extra_params => [ '-U', 'watcher' ]);
is($out, '1', 'pg_monitor may');
($rc, $out, $err) = $node->psql('postgres', 'SELECT backtrace_errors_reset()', extra_params => [ '-U', 'watcher' ]);
like($err, qr/permission denied/, 'but not reset');
($rc, $out, $err) = $node->psql('postgres', q{SET penumbra_backtrace.on_error = 'all'}, extra_params => [ '-U', 'watcher' ]);
like($err, qr/permission denied to set parameter/, 'nor choose errors');

# csvlog and jsonlog have it too.
my $json = $node->pg_version >= 15 ? ',jsonlog' : '';
$node->append_conf('postgresql.conf', "logging_collector = on\nlog_destination = 'stderr,csvlog$json'\nlog_filename = 'server.log'\n");
$node->restart;
$node->psql('postgres', q{SELECT fail('XX000')});
ok($node->poll_query_until('postgres', $settled), 'symbolised after a restart');
foreach my $file ('server.csv', 'server.json', 'server.log')
{
	my $content = '';
	for (1 .. 50)
	{
		$content = slurp_file($node->data_dir . "/log/$file");
		last if $content =~ /backtrace of error XX000/;
		select(undef, undef, undef, 0.1);
	}
	like($content, qr/backtrace of error XX000.*raise_error at /s, "in $file");
}
$node->append_conf('postgresql.conf', "logging_collector = off\nlog_destination = 'stderr'\n");

# Symbolisers that are missing, die, answer rubbish or do not answer: addresses, and the server goes on.
my $raw = qr/backtrace of error XX000.*\n.*DETAIL:  module [0-9a-f]+-[0-9a-f]+ [0-9a-f]+ [0-9a-f-]+ \/.*\n(.*\n)*?\tframe [0-9a-f]+ return\n/;
my $program = $node->basedir . '/symbolizer';
foreach (
	[ 'missing', undef, qr/could not execute ".*": No such file or directory/ ],
	[ 'dies', "#!/bin/sh\nread line\nkill -SEGV \$\$\n", qr/program ".*" ended unexpectedly/ ],
	[ 'silent', "#!/bin/sh\nsleep 1000\n", qr/program ".*" did not answer in time/ ])
{
	my ($name, $text, $message) = @$_;
	unlink $program;
	if (defined $text)
	{
		append_to_file($program, $text);
		chmod 0755, $program;
	}
	$node->append_conf('postgresql.conf', "penumbra_backtrace.symbolizer = '$program'\n");
	$node->restart;
	my $position = -s $node->logfile;
	$node->psql('postgres', q{SELECT fail('XX000')});
	for (1 .. 300)
	{
		$log = slurp_file($node->logfile, $position);
		last if $log =~ $raw;
		select(undef, undef, undef, 0.1);
	}
	like($log, $message, "symboliser $name: the log says so");
	like($log, $raw, "symboliser $name: the addresses are logged");
	like($node->safe_psql('postgres', 'SELECT frames FROM backtrace_errors'), qr/^module .*\nframe /s, "symboliser $name: and shown");
	unlike($log, qr/terminated by signal/, "symboliser $name: the server goes on");
}

# Loaded in one session only: the process logs the addresses itself, once, and not to its client.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
my $position = -s $node->logfile;
$node->psql('postgres', q{LOAD 'penumbra_backtrace'; SET client_min_messages = debug1; SELECT fail('XX000'); SELECT fail('XX000');},
	stderr => \$err, on_error_stop => 0);
$log = slurp_file($node->logfile, $position);
is(scalar(() = $log =~ /LOG:  backtrace of error XX000, stack [0-9a-f]{16}\n.*DETAIL:  module /g), 1, 'without preloading: raw, once');
unlike($err, qr/backtrace of|frame/, 'and nothing for the client');
($rc, $out, $err) = $node->psql('postgres', 'SELECT * FROM backtrace_errors');
like($err, qr/penumbra_backtrace was not loaded at server start/, 'the view says what is missing');

$node->stop;
done_testing();
