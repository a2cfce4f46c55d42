# When and how fast workers load, what they log, and what is left when one is terminated.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '64MB'
penumbra.log_load_min_duration = 0
restart_after_crash = on
timezone = 'UTC'
autovacuum_naptime = '1d'
});
$node->start;
sub ask { return $node->safe_psql('postgres', $_[0]); }
sub await { $node->poll_query_until('postgres', "SELECT $_[0]") or die "not reached: $_[0]"; }
sub set
{
	ask("ALTER SYSTEM SET $_[0]");
	$node->reload;
}
my $covers = q{max(coverage_percent) > 95 FROM penumbra.columns WHERE relname = 'T ''ä"'};
my $worker = q{FROM pg_stat_activity WHERE backend_type = 'penumbra worker'};
my $table = q{"T 'ä"""};
my $sum = "SELECT count(*), max(s) FROM $table";
ask('CREATE EXTENSION penumbra');
ask("CREATE TABLE $table AS SELECT i AS a, md5(i::text) || md5(i::text || 'x') AS s FROM generate_series(1, 350000) i");
sub unload { ask(qq{SELECT penumbra.unload(oid) FROM pg_class WHERE relname LIKE 'T %'}); }
sub log_since { return slurp_file($node->logfile, $_[0]); }
# Waits until the log has it.
sub logs
{
	my ($what, $size, $pattern) = @_;
	for (my $tries = 0; $tries < 300 && log_since($size) !~ $pattern; $tries++)
	{
		usleep(100_000);
	}
	like(log_since($size), $pattern, $what);
}

# what the log says
my $first_size = -s $node->logfile;
my $log_size = $first_size;
ask($sum);
await($covers);
await("count(*) = 0 $worker");
my $name = q{"postgres\.public\.T 'ä""};
my $log = log_since($log_size);
like($log, qr/LOG:  automatic load of cached columns of table $name: [1-9]\d* chunks in \d+ ms/, 'a load is logged');
like($log, qr/DETAIL:  [1-9]\d{4} kB of the table were read, [1-9]\d+ kB cached, and 0 kB evicted\./, 'with what it did');
$log_size = -s $node->logfile;
ask("UPDATE $table SET a = 0 WHERE a % 10 = 1");
ask("SET penumbra.mode = 'prefer'; $sum") foreach 1 .. 3;
logs('a refresh is logged', $log_size, qr/automatic refresh of cached columns of table $name/);
# From 19 on PostgreSQL's first scan has set the map's bits, so a vacuum comes after the update.
logs('a vacuum, too', $first_size, qr/LOG:  automatic vacuum of cached table $name: \d+ ms/);
# A worker that loads would evict, too, and say so itself.
await("count(*) = 0 $worker");
$log_size = -s $node->logfile;
set(q{penumbra.memory_target = '16MB'});
logs('an eviction is logged', $log_size, qr/automatic eviction of cached columns: [1-9]\d* kB in \d+ ms/);
ask('ALTER SYSTEM RESET penumbra.memory_target');
set('penumbra.log_load_min_duration = -1');
unload();
$log_size = -s $node->logfile;
ask($sum);
await($covers);
unlike(log_since($log_size), qr/automatic/, 'or nothing is');

# hours
my $now = int(time() / 60) % 1440;
sub interval { return sprintf '%02d:%02d-%02d:%02d', map { (($now + $_) / 60) % 24, ($now + $_) % 60 } @_; }
await('wanted_columns = 0 FROM penumbra.activity');
set("penumbra.load_hours = '" . interval(120, 180) . ', ' . interval(240, -120) . "'");
await("count(*) = 0 $worker");
unload();
my $loads = ask('SELECT loads FROM penumbra.activity');
ask($sum) foreach 1 .. 2;
sleep 2;
is(ask('SELECT loads FROM penumbra.activity'), $loads, 'nothing is loaded at other times');
is(ask('SELECT wanted_columns > 0 FROM penumbra.activity'), 't', 'but it is wanted');
set("penumbra.load_hours = '" . interval(120, 180) . ',' . interval(-120, 60) . "'");
await($covers);
pass('and loaded at its time');
set("penumbra.load_hours = ''");

# a rate: a chunk is 8 MB, and the table 33 MB
unload();
set(q{penumbra.max_load_rate = '16MB'});
my $begun = time();
ask($sum);
await($covers);
cmp_ok(time() - $begun, '>', 1, 'a rate holds');

# the worker rests until another rate is set, or it is terminated: what it did not do is done
foreach my $end ('rate', 'terminated', 'killed')
{
	await("count(*) = 0 $worker");
	unload();
	set(q{penumbra.max_load_rate = '1kB'});
	ask($sum);
	await("count(*) = 1 $worker AND wait_event_type = 'Extension'");
	await(q{count(*) > 0 FROM penumbra.columns});
	is(ask(qq{SELECT count(*) $worker AND (backend_xmin IS NOT NULL OR xact_start IS NOT NULL)}), '0', "$end: it rests without a snapshot");
	is(ask(qq{SELECT count(*) FROM pg_locks WHERE relation = '$table'::regclass AND pid IN (SELECT pid $worker)} =~ s/'ä/''ä/r), '0',
		"$end: and without a lock");
	ask(q{ALTER SYSTEM SET penumbra.max_load_rate = 0});
	if ($end eq 'terminated')
	{
		my $pid = ask("SELECT pid $worker");
		ask("SELECT pg_terminate_backend($pid)");
		# there may be another one by then
		await("count(*) = 0 FROM pg_stat_activity WHERE pid = $pid");
		$node->reload;
	}
	elsif ($end eq 'killed')
	{
		kill 'KILL', ask("SELECT pid $worker");
		$node->poll_query_until('postgres', 'SELECT true');
		$node->poll_query_until('postgres', 'SELECT loads < 5 FROM penumbra.activity');
		$node->reload;
		ask($sum);
	}
	else
	{
		$node->reload;
	}
	await($covers);
	pass("$end: the rest is loaded");
}

# values that are none, from each source
foreach my $hours ('22:00', '22:00-', '25:00-26:00', '1:00-1:00', '22:00-06:00,', ',', '22:60-23:00', '-1:00-2:00', 'night', '1:00-2:00 3:00-4:00',
	'24:01-25:00', '1:+2-3:00', '22:00-06:00;12:00-13:00')
{
	my ($code) = $node->psql('postgres', "ALTER SYSTEM SET penumbra.load_hours = '$hours'");
	isnt($code, 0, "no hours: $hours");
}
foreach my $setting (q{load_hours = '00:00-24:00'}, q{load_hours = ' 1:00-2:00 , 22:30-06:05 '}, 'max_load_rate = 2147483647', 'log_load_min_duration = 2147483647')
{
	is(($node->psql('postgres', "ALTER SYSTEM SET penumbra.$setting"))[0], 0, $setting);
}
foreach my $setting ('max_load_rate = -1', q{max_load_rate = '4TB'}, 'log_load_min_duration = -2', q{max_load_rate = 'fast'})
{
	isnt(($node->psql('postgres', "ALTER SYSTEM SET penumbra.$setting"))[0], 0, $setting);
}
my ($code) = $node->psql('postgres', 'SET penumbra.max_load_rate = 1');
isnt($code, 0, 'no session sets it');
ask('ALTER SYSTEM RESET ALL');
$node->append_conf('postgresql.conf', "penumbra.load_hours = 'night'\npenumbra.max_load_rate = -7");
$log_size = -s $node->logfile;
$node->restart;
like(log_since($log_size), qr/WARNING:  invalid value for parameter "penumbra\.load_hours": "night"/, 'a start with such values warns');
is(ask('SHOW penumbra.load_hours') . ask('SHOW penumbra.max_load_rate'), '0', 'and has the defaults');

$node->stop;
done_testing();
