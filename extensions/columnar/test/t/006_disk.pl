# Cached columns on disk: they outlive restarts and eviction, and whatever happens to the files, answers are the table's.
use strict;
use warnings;
use Fcntl qw(:flock);
use File::Path qw(rmtree);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '64MB'
penumbra.disk_cache_size = '64MB'
penumbra.auto_load = off
autovacuum = off
fsync = on
restart_after_crash = on
});
$node->start;
my $dir = $node->data_dir . '/penumbra/pgsql_tmp_columns';

sub ask { my ($query) = @_; return $node->safe_psql('postgres', $query); }
sub disk { my ($columns) = @_; return ask("SELECT $columns FROM penumbra.disk"); }
# The worker found what there is, and has written its first manifest.
sub await_start { await("state = 'open'"); }
# While the server restarts psql may end before its query is written to it, which is an exception.
sub poll
{
	my ($query) = @_;
	foreach (1 .. 600)
	{
		my $is_true = eval { $node->poll_query_until('postgres', $query) || 0 };
		return $is_true if defined $is_true;
		usleep(100_000);
	}
	return 0;
}
sub await
{
	my ($condition) = @_;
	poll("SELECT NOT is_pending AND $condition FROM penumbra.disk")
	  or die "not reached: $condition; " . disk('disk');
}

ask(q{
	CREATE EXTENSION penumbra;
	CREATE EXTENSION penumbra_test;
	CREATE TABLE t AS SELECT i AS a, 't' || i % 100 AS s, md5(i::text)::uuid AS u, jsonb_build_object('a', i) AS d
	FROM generate_series(1, 300000) i;
	VACUUM t;
});
my $sum = q{SET penumbra.mode = 'prefer'; SELECT count(*), sum(a), count(DISTINCT s) FROM t};
my $required = "SET penumbra.mode = 'require'; $sum" =~ s/SET penumbra.mode = 'prefer'; //r;
my $served = q{SELECT pages_from_cache > 0, pages_from_heap FROM penumbra.explain_coverage('t')};
my $verified = q{SELECT count(*), sum(mismatches) FROM penumbra.verify('t')};

# What is loaded is saved.
is(disk('state, saved_chunks, restored_chunks'), 'open|0|0', 'empty at first');
my $chunks = ask(q{SELECT penumbra.load('t')});
await("saved_segments = 3 * $chunks");
is(disk('saved_chunks, write_errors, bytes_read'), "$chunks|0|0", 'saved');
is(ask(q{SELECT disk_bytes = memory_bytes FROM penumbra.columns WHERE column_name = 'a'}), 't', 'as large as in memory');

# After a shutdown the columns answer without a load, and are read when a scan wants them.
$node->restart;
await_start();
is(disk('restored_chunks, saved_chunks, segments_read'), "$chunks|$chunks|0", 'restored');
is(disk('restored_segments = saved_segments AND restored_bytes = saved_bytes AND restored_bytes > 0'), 't', 'with all columns');
is(ask(q{SELECT sum(memory_bytes) FROM penumbra.columns}), '0', 'not yet in memory');
sub cost
{
	my ($cost) = ask(q{SET penumbra.mode = 'prefer'; EXPLAIN SELECT sum(a), min(s) FROM t}) =~ /\.\.([0-9.]+)/;
	return $cost;
}
my $cold_cost = cost();
is(ask($required), '300000|45000150000|100', 'answer after a restart');
my $column_pages = ask(q{SELECT sum(memory_bytes) / 8192 FROM penumbra.columns WHERE column_name IN ('a', 's')});
cmp_ok(abs($cold_cost - cost() - $column_pages), '<', 1, 'columns on disk cost what pages do');
is(disk('segments_read'), 2 * $chunks, 'two columns were read');
is(ask(q{SELECT column_name FROM penumbra.columns WHERE memory_bytes = 0}), 'u', 'the third was not');
my $rows = 'SELECT s, d FROM t ORDER BY u DESC LIMIT 3';
is(ask("SET penumbra.mode = 'require'; $rows"), ask("SET penumbra.mode = 'off'; $rows"), 'rows of chunks that were on disk');
is(ask($served), 't|0', 'all pages are served from the cache');
is(ask($verified), '3|0', 'verified');
is(ask(q{SELECT chunks_loaded FROM penumbra.activity}), '0', 'nothing was loaded');

# Zone maps are in memory: what they exclude is not read, by filters or by joins; what was written to it since is found.
sub reads
{
	my ($query, $answer, $segments, $name) = @_;
	$node->restart;
	await_start();
	is(ask("SET penumbra.mode = 'require'; SET work_mem = '64MB'; $query"), $answer, "$name: answer");
	is(disk('segments_read'), $segments, "$name: segments read");
}
my $half = "SELECT count(*), min(s), max(s) FROM t WHERE a BETWEEN 1000 AND 1099";
reads($half, '100|t0|t99', 2, 'one chunk');
reads("SELECT count(*) FROM t WHERE a < 0", '0', 0, 'no chunk');
reads("SELECT count(s) FROM t WHERE a IS NULL", '0', 0, 'no nulls');
like(ask("SET penumbra.mode = 'require'; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $half"),
	 qr/Chunks: 1 of $chunks \(@{[$chunks - 1]} skipped by zone maps\)/, 'chunks that are not read count as skipped');
ask(q{CREATE TABLE few AS SELECT i AS a FROM generate_series(5, 50, 5) i; VACUUM ANALYZE few; SELECT penumbra.load('few')});
await("saved_segments = 3 * $chunks + 1");
reads("SELECT count(*), min(s) FROM t JOIN few USING (a)", '10|t10', 3, 'a join');
ask(q{DROP TABLE few});
ask('UPDATE t SET a = -1 WHERE a = 299999');
reads("SELECT count(*), sum(a), min(s) FROM t WHERE a < 10", '10|44|t1', 2, 'a row was written to a chunk that is not read');
ask('UPDATE t SET a = 299999 WHERE a = -1');
ask('VACUUM (FREEZE) t');
ask(q{SELECT penumbra.unload('t')});
$chunks = ask(q{SELECT penumbra.load('t')});
await("saved_segments = 3 * $chunks");

# After a restart: a session that waits before it reads, or while it does, and one that lets it go on with its end.
my $stop;
sub begin_read
{
	$node->restart;
	await_start();
	my $keeper = $node->background_psql('postgres');
	$keeper->query_safe("SELECT pg_advisory_lock(penumbra_test.stop_point_key('$stop'))");
	my $reader = $node->background_psql('postgres', on_error_stop => 0);
	$reader->query_safe("SET penumbra.stop_points = '$stop'; SET penumbra.mode = 'prefer'");
	$reader->query_until(qr/begin/, "\\echo begin\nSELECT sum(a) FROM t;\n");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die;
	return ($keeper, $reader);
}

# Two read the same; and one reads while the table is unloaded.
sub read_meanwhile
{
	my ($meanwhile, $name) = @_;
	my ($keeper, $reader) = begin_read();
	ask($meanwhile);
	$keeper->quit;
	is($reader->query_safe(q{SELECT 1}) =~ s/\s//gr, '450001500001', "$stop, $name: answer");
	$reader->quit;
}
foreach ('disk-before-read', 'disk-reading')
{
	$stop = $_;
	read_meanwhile('SELECT sum(a) FROM t', 'two read');
	is(ask($verified), '3|0', "$stop, two read: verified");
	read_meanwhile(q{SELECT penumbra.unload('t')}, 'unloaded');
	is(ask(q{SELECT used_bytes FROM penumbra.memory WHERE size_class = 'all'}), '0', "$stop: no memory is lost");
	$chunks = ask(q{SELECT penumbra.load('t')});
	await("saved_segments = 3 * $chunks");
}

# A reader that ends leaves nothing pinned and nothing half read.
sub end_reader
{
	my ($name, $end) = @_;
	my ($keeper, $reader) = begin_read();
	my $pid = ask(q{SELECT pid FROM pg_stat_activity WHERE wait_event = 'advisory'});
	$end->($pid);
	poll('SELECT true') or die;
	poll("SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid AND wait_event = 'advisory'") or die;
	eval { $keeper->quit };
	eval { $reader->quit };
	await_start();
	is(ask($required), '300000|45000150000|100', "$name: answer");
	is(ask($verified), '3|0', "$name: verified");
	ask(q{SELECT penumbra.unload('t')});
	$node->poll_query_until('postgres', q{SELECT used_bytes = 0 FROM penumbra.memory WHERE size_class = 'all'});
	is(ask(q{SELECT used_bytes FROM penumbra.memory WHERE size_class = 'all'}), '0', "$name: no memory is lost");
	$chunks = ask(q{SELECT penumbra.load('t')});
	await("saved_segments = 3 * $chunks");
}
foreach ('disk-before-read', 'disk-reading')
{
	$stop = $_;
	end_reader("$stop, canceled", sub { ask("SELECT pg_cancel_backend($_[0])") });
	end_reader("$stop, terminated", sub { ask("SELECT pg_terminate_backend($_[0])") });
	end_reader("$stop, killed", sub { kill 'KILL', $_[0] });
}

# Written before the restart and after: pages by what they are, and rows by their headers (X is older than this start).
ask('UPDATE t SET a = a + 1 WHERE a % 3000 = 0');
is(ask($sum), '300000|45000150100|100', 'written after the restart');
is(ask(q{SELECT pages_row_by_row > 0 FROM penumbra.explain_coverage('t')}), 't', 'rows of restored chunks are proven');
$node->restart;
await_start();
is(disk('restored_chunks'), $chunks, 'restored again');
is(ask($required), '300000|45000150100|100', 'written before the restart');
ask('UPDATE t SET a = a - 1 WHERE a % 3000 = 1 AND u = md5((a - 1)::text)::uuid');
is(ask(q{SELECT pages_row_by_row > 0 FROM penumbra.explain_coverage('t')}), 't', 'rows are proven');
is(ask($required), '300000|45000150000|100', 'written on both sides of it');
is(ask($verified), '3|0', 'verified');

# Whose row of pg_class is newer than the load could have another file: no row is proven, pages are.
ask('GRANT SELECT ON t TO PUBLIC');
is(ask(q{SELECT pages_row_by_row, pages_from_cache > 0, pages_from_heap > 0 FROM penumbra.explain_coverage('t')}), '0|t|t',
	'no rows are proven where a drop could have been missed');
is(ask($required), '300000|45000150000|100', 'answer');
cmp_ok(ask(q{SELECT penumbra.refresh('t')}), '>', 0, 'loaded again');
is(ask(q{SELECT pages_from_heap FROM penumbra.explain_coverage('t')}), '0', 'and served');

# A crash of a backend, one of the server: what the manifest has is kept.
ask('VACUUM t');
ask(q{SELECT penumbra.refresh('t')});
await("saved_segments = 3 * $chunks");
my $backend = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $backend->query('SELECT pg_backend_pid()');
ask('UPDATE t SET a = a + 5 WHERE a = 17');
kill 'KILL', $pid;
eval { $backend->quit };
poll('SELECT true') or die 'the server did not come back';
await_start();
is(disk('restored_chunks'), $chunks, 'restored after a crash of a backend');
is(ask($required), '300000|45000150005|100', 'answer after it');
ask('UPDATE t SET a = a - 5 WHERE a = 22 AND s = $$t17$$');
$node->stop('immediate');
$node->start;
await_start();
is(disk('restored_chunks'), $chunks, 'restored after a crash of the server');
is(ask($required), '300000|45000150000|100', 'answer after it');
is(ask($verified), '3|0', 'verified');

# Loaded after the last checkpoint: transaction numbers up to the load may be given again, so no row is proven by them.
ask('CHECKPOINT');
ask('SELECT txid_current()') foreach 1 .. 3;
ask(q{SELECT penumbra.unload('t')});
ask(q{SELECT penumbra.load('t')});
await("saved_segments = 3 * $chunks");
$node->stop('immediate');
$node->start;
await_start();
is(disk('restored_chunks'), $chunks, 'restored after a crash soon after the load');
ask('UPDATE t SET s = s WHERE a = 5');
is(ask(q{SELECT pages_row_by_row, pages_from_cache > 0, pages_from_heap > 0 FROM penumbra.explain_coverage('t')}), '0|t|t',
	'no rows are proven by numbers that may be given again');
is(ask($required), '300000|45000150000|100', 'answer');
is(ask($verified), '3|0', 'verified');

# What was dropped or rewritten is not there any more, though the manifest may have it.
ask('CREATE TABLE gone AS SELECT i AS a FROM generate_series(1, 1000) i');
ask(q{VACUUM gone; SELECT penumbra.load('gone')});
await("saved_chunks = $chunks + 1");
ask('DROP TABLE gone; VACUUM FULL t; VACUUM t');
$node->stop('immediate');
$node->start;
await_start();
is(ask($sum), '300000|45000150000|100', 'answer after a rewrite');
is(ask(q{SELECT pages_from_cache FROM penumbra.explain_coverage('t')}), '0', 'nothing of the old file is served');
$chunks = ask(q{SELECT penumbra.load('t')});
await("saved_segments >= 3 * $chunks");

# Damage: dropped, counted, and said once.
sub files { return sort glob("$dir/*.columns"); }
sub flip
{
	my ($file, $offset) = @_;
	open my $handle, '+<:raw', $file or die "$file: $!";
	seek $handle, $offset, 0;
	read $handle, my $byte, 1;
	seek $handle, $offset, 0;
	print $handle chr(ord($byte) ^ 0x10);
	close $handle;
}
sub log_size { return -s $node->logfile; }
sub flip_all
{
	foreach my $file (files())
	{
		flip($file, $_ * 4096 + 64) for 0 .. (-s $file) / 4096 - 1;
	}
}
sub load_all
{
	ask(q{SELECT penumbra.load('t')});
	$chunks = ask(q{SELECT chunks FROM penumbra.tables WHERE relid = 't'::regclass});
	await("saved_segments = 3 * $chunks AND file_bytes > 0");
}
my $size = -s $node->logfile;
sub restart
{
	my ($between) = @_;
	$node->stop;
	$between->() if $between;
	$size = -s $node->logfile;
	$node->start;
	await("state <> 'opening'");
}
sub restart_immediately
{
	$node->stop('immediate');
	$node->start;
	await("state <> 'opening'");
}
sub log_has
{
	my ($pattern, $name) = @_;
	like(slurp_file($node->logfile, $size), $pattern, $name);
	is(ask($sum), '300000|45000150000|100', "$name: answer");
}

restart(\&flip_all);
log_has(qr/0 chunks of tables are cached on disk, [1-9]\d* could not be read/, 'damaged headers');
is(ask(q{SELECT count(*) FROM penumbra.tables}), '0', 'nothing of them is cached');
load_all();
restart();
is(disk('restored_chunks'), $chunks, 'restored');
flip_all();
is(ask($sum), '300000|45000150000|100', 'answer without the damaged columns');
is(ask(q{SELECT pages_from_cache FROM penumbra.explain_coverage('t')}), '0', 'nothing of them is served');
cmp_ok(disk('damaged'), '>', 0, 'damage is counted');
load_all();
is(ask($required), '300000|45000150000|100', 'loaded again');
flip_all();
is(ask(q{SELECT string_agg(DISTINCT problem, ';') FROM penumbra.verify('t')}), 'the copy on disk is damaged', 'verify sees it');
is(ask(q{SELECT sum(mismatches) FROM penumbra.verify('t')}), '0', 'and drops it');
my @said = slurp_file($node->logfile, $size) =~ /cached column in file .* is damaged/g;
is(scalar(@said), 1, 'the log says it once');

# Short and missing files.
ask(q{SELECT penumbra.unload('t')});
load_all();
restart();
truncate($_, 4096) foreach files();
is(ask($sum), '300000|45000150000|100', 'answer without the short files');
cmp_ok(disk('read_errors'), '>', 0, 'short reads are counted');
ask(q{SELECT penumbra.unload('t')});
load_all();
restart();
unlink files();
is(ask($sum), '300000|45000150000|100', 'answer without the files');
cmp_ok(disk('read_errors'), '>', 0, 'failed opens are counted');
ask(q{SELECT penumbra.unload('t')});
load_all();
is(ask($required), '300000|45000150000|100', 'loaded again');

# The directory goes while the server runs: it is made again, with what is in memory.
rmtree($dir);
ask(q{CREATE TABLE other AS SELECT i AS a FROM generate_series(1, 1000) i});
ask(q{VACUUM other; SELECT penumbra.load('other')});
await("saved_segments = 3 * $chunks + 1");
is(ask($required), '300000|45000150000|100', 'answer without the directory');
restart();
is(disk('restored_chunks'), $chunks + 1, 'restored from the new directory');
ask('DROP TABLE other');

# Directories that are not ours alone.
sub rename_away { rename $dir, "$dir.away" or die "$dir: $!"; }
sub rename_back { -l $dir ? unlink $dir : rmtree($dir); rename "$dir.away", $dir or die "$dir: $!"; }
restart(sub { rename_away(); symlink "$dir.away", $dir; });
log_has(qr/not kept on disk: ".*" is not a directory/, 'symbolic link');
is(disk('state'), 'refused', 'and the view says so');
restart(sub { rename_back(); chmod 0777, $dir; });
log_has(qr/not kept on disk: directory ".*" can be written by others/, 'open directory');
restart(sub { chmod 0500, $dir; });
log_has(qr/not kept on disk: directory ".*" cannot be used: Permission denied/, 'closed directory');
my $lock;
restart(sub { chmod 0700, $dir; open $lock, '+<', "$dir/lock" or die; flock($lock, LOCK_EX) or die; });
log_has(qr/not kept on disk: could not lock file/, 'another server');
close $lock;
restart(sub { $node->append_conf('postgresql.conf', 'fsync = off'); });
log_has(qr/not kept on disk: fsync is off/, 'fsync off');
restart(sub { $node->append_conf('postgresql.conf', 'fsync = on'); });
is(disk('restored_chunks'), $chunks, 'restored when it is on');
$node->append_conf('postgresql.conf', 'fsync = off');
$node->reload;
$node->poll_query_until('postgres', q{SELECT state = 'refused' FROM penumbra.disk}) or die;
log_has(qr/not kept on disk any more: fsync was switched off/, 'fsync switched off');
ok(!-e "$dir/manifest", 'nothing is left for the next start');

# What does not belong to this state of the data directory.
sub keep { my ($name) = @_; system_or_bail('cp', $node->data_dir . "/penumbra/$name", "$dir.$name"); }
restart(sub { $node->append_conf('postgresql.conf', 'fsync = on'); });
load_all();
restart(sub { keep('numbers') });
log_has(qr/chunks of tables are cached on disk, 0 could not be read/, 'used again');
ask(q{SELECT penumbra.unload('t')});
load_all();
restart(sub { system_or_bail('cp', "$dir.numbers", $node->data_dir . '/penumbra/numbers'); });
log_has(qr/not used: it does not belong to this state of the data directory/, 'stale files');
load_all();
restart(sub { flip("$dir/manifest", 200); });
log_has(qr/not used: the manifest is damaged/, 'damaged manifest');
load_all();
restart(sub { system_or_bail('pg_resetwal', '-D', $node->data_dir); });
log_has(qr/not used: WAL begins with a new segment/, 'pg_resetwal');
load_all();
# A start without a disk cache sees it, too: transactions have numbers that were given before.
ask(q{
	CREATE PROCEDURE spend(n int) LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. n LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$;
	CREATE TABLE renumbered (a int);
	CHECKPOINT;
	CALL spend(3000);
	INSERT INTO renumbered SELECT 1 FROM generate_series(1, 2000);
	VACUUM renumbered;
	SELECT penumbra.load('renumbered');
});
await('saved_chunks > 0');
$node->stop('immediate');
system_or_bail('pg_resetwal', '-f', '-D', $node->data_dir);
$node->append_conf('postgresql.conf', 'penumbra.disk_cache_size = 0');
$node->start;
ask(q{
	DELETE FROM renumbered;
	VACUUM renumbered;
	INSERT INTO renumbered SELECT 2 FROM generate_series(1, 2000);
	CALL spend(4000);
});
restart(sub { $node->append_conf('postgresql.conf', q{penumbra.disk_cache_size = '64MB'}); });
is(ask(q{SET penumbra.mode = 'prefer'; SELECT count(*), sum(a) FROM renumbered}), '2000|4000', 'other rows by numbers given twice');
ask('DROP TABLE renumbered');
log_has(qr/not used: it does not belong to this state of the data directory/, 'pg_resetwal before the last start');
load_all();

# Neither is in a base backup, or of use there.
$node->backup('backup');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'backup');
ok(!-e $copy->data_dir . '/penumbra/pgsql_tmp_columns', 'not in a base backup');
system_or_bail('cp', '-r', $dir, $copy->data_dir . '/penumbra/');
$copy->start;
$copy->poll_query_until('postgres', q{SELECT state = 'open' FROM penumbra.disk}) or die;
is($copy->safe_psql('postgres', $sum), '300000|45000150000|100', 'answer of a copy');
is($copy->safe_psql('postgres', q{SELECT coalesce(sum(mismatches), 0) FROM penumbra.verify('t')}), '0', 'verified');
$copy->stop;
# archive recovery ends on another timeline
restart(sub {
	$node->append_conf('postgresql.conf', "restore_command = 'false'");
	$node->append_conf('recovery.signal', '');
});
log_has(qr/not used: it belongs to another timeline/, 'another timeline');
load_all();

# In a directory outside of the data directory.
my $inside = $dir;
my $disk_drive = PostgreSQL::Test::Utils::tempdir();
sub move_to { my ($path) = @_; $node->append_conf('postgresql.conf', "penumbra.disk_cache_directory = '$path'"); }
restart(sub { move_to('penumbra'); });
log_has(qr/not kept on disk: "penumbra" is not an absolute path/, 'a relative path');
restart(sub { move_to("$disk_drive/ours"); });
log_has(qr/not kept on disk: could not stat directory ".*ours": No such file/, 'a disk that is not mounted');
ok(!-e "$disk_drive/ours", 'its directory is not made');
restart(sub { mkdir "$disk_drive/ours"; symlink "$disk_drive/ours", "$disk_drive/link"; move_to("$disk_drive/link/"); });
log_has(qr/not kept on disk: ".*link" is not a directory/, 'symbolic link elsewhere');
restart(sub { move_to("$disk_drive/ours/"); chmod 0777, "$disk_drive/ours"; });
log_has(qr/not kept on disk: directory ".*ours" can be written by others/, 'open directory elsewhere');
restart(sub { chmod 0700, "$disk_drive/ours"; });
$dir = "$disk_drive/ours/pgsql_tmp_columns";
is(disk('state, restored_chunks'), 'open|0', 'empty elsewhere');
load_all();
restart();
is(disk('restored_chunks'), $chunks, 'restored from elsewhere');
is(ask($required), '300000|45000150000|100', 'answer from elsewhere');
is(ask($verified), '3|0', 'verified');
restart(sub { move_to(''); });
log_has(qr/not used: it does not belong to this state of the data directory/, 'what was left inside');
restart(sub { move_to("$disk_drive/ours"); });
log_has(qr/not used: it does not belong to this state of the data directory/, 'what was left elsewhere');
load_all();

# Copies of the data directory name the same directory.  One of them has it at a time, and takes what is of its own past.
sub answers_are_right
{
	my ($cluster, $name) = @_;
	$cluster->poll_query_until('postgres', q{SELECT state <> 'opening' FROM penumbra.disk}) or die;
	is($cluster->safe_psql('postgres', $sum), $cluster->safe_psql('postgres', $sum =~ s/prefer/off/r), "$name: answer");
	is($cluster->safe_psql('postgres', q{SELECT coalesce(sum(mismatches), 0) FROM penumbra.verify('t')}), '0', "$name: verified");
}
sub restored
{
	my ($cluster) = @_;
	return $cluster->safe_psql('postgres', 'SELECT restored_chunks FROM penumbra.disk');
}
# Changes rows and changes them back, and waits until all that is saved.
sub go_on
{
	my ($cluster, $rest) = @_;
	$cluster->safe_psql('postgres', "UPDATE t SET a = a + $_ WHERE s = 't$rest'") foreach 1, -1;
	$cluster->safe_psql('postgres', $_) foreach 'VACUUM t', q{SELECT penumbra.refresh('t')};
	$cluster->poll_query_until('postgres', 'SELECT NOT is_pending FROM penumbra.disk') or die;
}
$node->stop;
mkdir $node->backup_dir;
system_or_bail('cp', '-a', $node->data_dir, $node->backup_dir . '/cold');
my $twin = PostgreSQL::Test::Cluster->new('twin');
$twin->init_from_backup($node, 'cold');
$twin->start;
answers_are_right($twin, 'copy');
is(restored($twin), $chunks, 'a copy finds what its past has saved');
$size = log_size();
$node->start;
await("state <> 'opening'");
log_has(qr/not kept on disk: could not lock file/, 'while the copy runs');
answers_are_right($node, 'without the directory');
go_on($twin, 5);
ask(q{UPDATE t SET a = a + 1 WHERE a % 7 = 0; UPDATE t SET a = a - 1 WHERE a % 7 = 1 AND u = md5((a - 1)::text)::uuid});
$twin->stop;
restart();
log_has(qr/not used: it does not belong to this state of the data directory/, 'what the copy has saved');
answers_are_right($node, 'after the copy');
load_all();
$node->stop;
$twin->start;
answers_are_right($twin, 'after the original');
is(restored($twin), 0, 'what the original has saved since');
$twin->stop;

# A backup is restored beside it.
$node->start;
load_all();
$node->backup('beside');
go_on($node, 6);
$node->stop;
my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($node, 'beside');
$restored->start;
answers_are_right($restored, 'restored backup');
like(slurp_file($restored->logfile), qr/not used: WAL begins with a new segment/, 'what came later');
$restored->stop;

# pg_rewind leaves it.
$node->append_conf('postgresql.conf', "wal_log_hints = on\nwal_keep_size = '1GB'\nrestore_command = ''");
$node->start;
load_all();
$node->backup('standby');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'standby', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
$standby->promote;
answers_are_right($standby, 'promoted');
go_on($node, 7);
$node->stop;
my $conf = slurp_file($node->data_dir . '/postgresql.conf');
$standby->safe_psql('postgres', 'CHECKPOINT');
system_or_bail('pg_rewind', '--target-pgdata', $node->data_dir, '--source-server', $standby->connstr('postgres'));
ok(-e "$dir/manifest", 'pg_rewind leaves what is elsewhere');
unlink $node->data_dir . '/postgresql.conf';
append_to_file($node->data_dir . '/postgresql.conf', $conf);
$size = log_size();
$node->start;
await("state <> 'opening'");
log_has(qr/not used: it belongs to another timeline/, 'rewound');
answers_are_right($node, 'rewound');
$standby->stop;
$dir = $inside;
restart(sub { move_to(''); $node->append_conf('postgresql.conf', "wal_log_hints = off\nwal_keep_size = 0"); });
load_all();

# Texts that repeat parts of each other are packed where that is wanted, other columns are not.
$node->append_conf('postgresql.conf', 'penumbra.disk_cache_compression = on');
$node->reload;
ask(q{CREATE TABLE p AS SELECT i AS a, md5(i::text) AS h, 'order ' || i || ' of a customer ' || i % 1000 || ' for delivery to some place' AS w
	FROM generate_series(1, 150000) i; VACUUM p; SELECT penumbra.load('p')});
await("saved_segments > 0");
my $packed = q{SELECT string_agg(column_name, ',' ORDER BY column_name) FROM penumbra.columns
	WHERE relid = 'p'::regclass AND };
is(ask("$packed disk_bytes BETWEEN 1 AND memory_bytes * 0.6"), 'w', 'packed');
is(ask("$packed disk_bytes = memory_bytes"), 'a,h', 'not packed');
my $texts = q{SELECT count(*), max(w), sum(length(w)), max(h) FROM p};
my $texts_answer = ask("SET penumbra.mode = 'off'; $texts");
# read by a scan, by verify, and into no memory of the cache
restart();
is(ask("SET penumbra.mode = 'require'; $texts"), $texts_answer, 'packed: answer');
is(ask("$packed memory_bytes * 0.6 >= disk_bytes AND memory_bytes > 0"), 'w', 'packed: unpacked in memory');
restart();
is(ask(q{SELECT count(*), sum(mismatches), count(problem) FROM penumbra.verify('p')}), '3|0|0', 'packed: verified');
restart(sub { $node->append_conf('postgresql.conf', "penumbra.memory = '16MB'\npenumbra.disk_cache_compression = off"); });
is(ask("SET penumbra.mode = 'require'; $texts"), $texts_answer, "packed: answer $_ with little memory") foreach 1 .. 3;
is(disk('read_errors + damaged + write_errors'), '0', 'packed: without a fault');
restart();
flip_all();
is(ask("SET penumbra.mode = 'prefer'; $texts"), $texts_answer, 'packed: answer when it is damaged');
cmp_ok(disk('damaged'), '>', 0, 'packed: damage is counted');
ask('DROP TABLE p');
load_all();

# More than fits memory: what is evicted is read again.
restart(sub { $node->append_conf('postgresql.conf', "penumbra.memory = '16MB'"); });
ask(qq{CREATE TABLE t$_ AS SELECT i AS a, encode(sha512((i * $_)::text::bytea), 'base64') AS u FROM generate_series(1, 80000) i; VACUUM t$_})
  foreach 1 .. 3;
foreach my $table (1 .. 3)
{
	my $saved = disk('saved_segments');
	my $loaded = ask("SELECT penumbra.load('t$table')");
	await("saved_segments = $saved + 2 * $loaded");
}
my $hashes = "SET penumbra.mode = 'require'; SELECT count(*), count(DISTINCT u), sum(a) FROM t";
foreach my $round (1 .. 2)
{
	is(ask("$hashes$_"), '80000|80000|3200040000', "answer $_ of round $round") foreach 1 .. 3;
	is(ask("SELECT pages_from_heap FROM penumbra.explain_coverage('t$_')"), '0', "from the cache") foreach 1 .. 3;
}
is(ask(q{SELECT sum(misses) > 0, sum(evictions) > 0, (SELECT evictions > 0 FROM penumbra.memory WHERE size_class = 'all')
	FROM penumbra.tables}), 't|t|t', 'misses and evictions are counted');
is(ask($required), '300000|45000150000|100', 'the first table');
is(ask(q{SELECT sum(chunks_loaded) FROM penumbra.activity}), ask(q{SELECT sum(chunks) FROM penumbra.tables WHERE relid <> 't'::regclass}),
	'no chunk was loaded twice');
# stopped while it writes, or before
ask("SELECT penumbra.unload('t$_'), penumbra.load('t$_')") foreach 1 .. 3;
restart_immediately();
is(ask("$hashes$_"), '80000|80000|3200040000', "answer $_ after a stop in between") foreach 1 .. 3;
is(ask(qq{SELECT coalesce(sum(mismatches), 0) FROM unnest('{t1, t2, t3}'::regclass[]) t, penumbra.verify(t)}), '0', 'verified');
is(ask(q{SELECT max(used_bytes) <= max(budget_bytes) FROM penumbra.memory}), 't', 'within the budget');
is(disk('read_errors + damaged + write_errors'), '0', 'without a fault');

# One table of more than fits: all of it is loaded, and scanned from the cache, in mode auto, too.
ask(qq{SELECT penumbra.unload('t$_')}) foreach 1 .. 3;
ask(q{SELECT penumbra.unload('t')});
ask(q{CREATE TABLE large AS SELECT i AS a, (i::bigint * 7919 % 65536)::int AS b, encode(sha512(i::text::bytea), 'base64') AS u,
	random() AS f FROM generate_series(1, 500000) i});
ask(q{VACUUM ANALYZE large});
my $large_chunks = ask(q{SELECT penumbra.load('large')});
is(ask(q{SELECT pages_from_heap FROM penumbra.explain_coverage('large')}), '0', 'a large table is cached');
cmp_ok(ask(q{SELECT sum(disk_bytes) FROM penumbra.columns WHERE relid = 'large'::regclass}), '>', 2 * 16 * 1024 * 1024,
	'and is larger than the memory');
my @large = (
	q{SELECT count(*), sum(a), max(u), sum(length(u)) FROM large},
	q{SELECT b, count(*), min(u) FROM large GROUP BY b ORDER BY b LIMIT 5},
	q{SELECT a, u, f FROM large ORDER BY f DESC LIMIT 5},
	q{SELECT a, u FROM large WHERE b = 77 ORDER BY a},
	q{SELECT count(*), sum(b), max(u) FROM large WHERE a BETWEEN 250000 AND 250999},
	q{SELECT count(*), max(u) FROM large WHERE b < 0},
	q{SELECT count(*) FROM (SELECT a, u, f FROM large OFFSET 0) x WHERE length(u) > 10},
	q{SELECT x.b, count(*), max(y.u) FROM large x JOIN large y ON x.a = y.a + 1 WHERE x.b < 20 GROUP BY x.b ORDER BY x.b},
	q{SELECT count(*), max(u), sum(a) FROM (SELECT a, u FROM large WHERE b < 40000 UNION ALL SELECT b, u FROM large WHERE a < 99999
		UNION ALL SELECT a, u FROM large WHERE b < 0 UNION ALL SELECT a, u FROM large) x},
	q{SELECT count(*) FROM (SELECT u FROM large UNION ALL SELECT u FROM large LIMIT 3) x});
my %expected = map { $_ => ask("SET penumbra.mode = 'off'; $_") } @large;
foreach my $settings ('', 'SET max_parallel_workers_per_gather = 0;', 'SET penumbra.threads_per_query = 2;')
{
	is(ask("SET penumbra.mode = 'require'; $settings $_"), $expected{$_}, "$settings $_") foreach @large;
}
# the node is scanned again for each row of the other side
is(ask(q{SET penumbra.mode = 'prefer'; SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
	SELECT g, (SELECT count(*) FROM large WHERE b = g AND length(u) > 1 OFFSET g - g) FROM generate_series(1, 3) g}),
	ask(q{SET penumbra.mode = 'off'; SELECT g, (SELECT count(*) FROM large WHERE b = g) FROM generate_series(1, 3) g}),
	'scanned again');
is(ask(q{SET penumbra.mode = 'require'; SELECT count(*) FROM (SELECT u FROM large LIMIT 3) x}), '3', 'not to its end');
# cancelled while it reads, and again in the same session; the time-out ends with its transaction, since what would take
# it back might be cancelled too
my $cancelled = join(';', map {
	my $timeout = "SET LOCAL statement_timeout = $_";
	map { ('BEGIN', $timeout, $_, 'ROLLBACK') } @large
} 1, 2, 5, 10, 20, 50, 100);
is(($node->psql('postgres', "SET penumbra.mode = 'prefer'; $cancelled; ROLLBACK; SELECT 'last'; $large[0]",
	on_error_stop => 0))[1] =~ s/.*^last\n//msr, $expected{$large[0]}, 'cancelled');
# a part of it was written
ask(q{UPDATE large SET b = -1 WHERE a % 1000 = 0});
%expected = map { $_ => ask("SET penumbra.mode = 'off'; $_") } @large;
is(ask("SET penumbra.mode = 'require'; $_"), $expected{$_}, "written: $_") foreach @large;

# One scan of it takes nothing from what is used; what is scanned again and again gets memory.
ask(q{SELECT penumbra.load('t1')});
await("state = 'open'");
restart();
sub memory_of { my ($table) = @_; return ask("SELECT sum(memory_bytes) FROM penumbra.columns WHERE relid = '$table'::regclass"); }
ask("${hashes}1") foreach 1 .. 3;
my $used = memory_of('t1');
cmp_ok($used, '>', 0, 'a small table is in memory');
ask("SET penumbra.mode = 'require'; $large[0]");
is(memory_of('t1'), $used, 'one scan of the large one leaves it there');
ask("SET penumbra.mode = 'require'; $large[0]") foreach 1 .. 12;
cmp_ok(memory_of('t1'), '<', $used, 'many take its place');
my $read = disk('bytes_read');
my $held = memory_of('large');
ask("SET penumbra.mode = 'require'; $large[0]");
cmp_ok(disk('bytes_read') - $read, '<', ask(q{SELECT sum(disk_bytes) FROM penumbra.columns WHERE relid = 'large'::regclass}) - $held / 2,
	'what is in memory is not read');

# After a start the rest is read back in the background, the column that was used most first, as far as there is room.
restart(sub { $node->append_conf('postgresql.conf', "penumbra.auto_load = on") });
ask("SET penumbra.mode = 'require'; SELECT max(f) FROM large") foreach 1 .. 20;
restart();
ok(poll(q{SELECT memory_bytes = disk_bytes FROM penumbra.columns WHERE relid = 'large'::regclass AND column_name = 'f'}),
	'the most used column is read back');
is(ask(q{SELECT memory_bytes < disk_bytes FROM penumbra.columns WHERE relid = 'large'::regclass AND column_name = 'u'}), 't',
	'not all of the others');
ok(poll(q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE '%reader'}), 'then it ends');
is(disk('bytes_read_back BETWEEN 1 AND bytes_read AND read_back_started_at IS NULL AND bytes_left = 0 AND time_left IS NULL'),
	't', 'what it has read is told, and that nothing is left to it');
is(ask(q{SELECT max(used_bytes) <= max(budget_bytes) FROM penumbra.memory}), 't', 'within the budget');
is(ask("SET penumbra.mode = 'prefer'; $_"), $expected{$_}, "read back: $_") foreach @large;
restart(sub { $node->append_conf('postgresql.conf', "penumbra.auto_load = off") });

# What is on disk is damaged when it is read ahead: the rest is the heap's.
await("state = 'open'");
flip_all();
is(ask("SET penumbra.mode = 'prefer'; $_"), $expected{$_}, "damaged: $_") foreach @large;
ask(q{DROP TABLE large});
# A table of segments that are little more than half of a size class can use the memory, too.
ask(qq{SELECT penumbra.unload('t$_')}) foreach 1 .. 3;
ask(q{CREATE TABLE dense AS SELECT (random() * 2000000000)::int AS a, (random() * 2000000000)::int AS b,
	(random() * 2000000000)::int AS c, (random() * 2000000000)::int AS d FROM generate_series(1, 850000) i});
ask(q{VACUUM dense; SELECT penumbra.load('dense')});
cmp_ok(memory_of('dense'), '>', 12 * 1024 * 1024, 'a class of sizes can use all memory');
ask(q{DROP TABLE dense});
restart();
load_all();

# More than fits on disk: the rest is not kept, and nothing is written in a circle.
restart(sub { $node->append_conf('postgresql.conf', "penumbra.memory = '64MB'\npenumbra.disk_cache_size = '8MB'"); });
is(ask("$hashes$_"), '80000|80000|3200040000', "answer $_ of a small disk cache") foreach 1 .. 3;
ask("SELECT penumbra.load('t$_')") foreach 1 .. 3;
await("file_bytes <= budget_bytes AND saved_bytes > 0");
is(ask("$hashes$_"), '80000|80000|3200040000', "answer $_ of a full disk cache") foreach 1 .. 3;

# Stopped before everything is restored: nothing of the rest is forgotten.
restart(sub { $node->append_conf('postgresql.conf', "penumbra.memory = '512MB'\npenumbra.disk_cache_size = '1GB'"); });
ask(q{DO $$ BEGIN FOR i IN 1 .. 400 LOOP
	EXECUTE format('CREATE TABLE small%s AS SELECT i AS a FROM generate_series(1, 100) i', i);
END LOOP; END $$});
ask(q{SELECT count(penumbra.load(oid)) FROM pg_class WHERE relname ~ '^small[0-9]'});
ask(q{SELECT penumbra.load('t')});
await("saved_chunks >= 400 + $chunks");
my $saved = disk('saved_chunks');
$node->stop;
foreach my $start_ms (map { 10 * $_ } 2 .. 12)
{
	system('pg_ctl', '-W', '-s', '-D', $node->data_dir, '-l', $node->logfile, 'start') == 0 or die;
	usleep(1000 * $start_ms);
	# not before there is a postmaster
	usleep(1000) while !-s $node->data_dir . '/postmaster.pid';
	system('pg_ctl', '-w', '-s', '-D', $node->data_dir, '-m', 'fast', 'stop') == 0 or die;
}
$node->start;
# what would take long waits until it is known
like(ask(q{SET cpu_tuple_cost = 10; EXPLAIN (ANALYZE, COSTS OFF) SELECT count(a), max(s) FROM t}),
	qr/Pages: \d+ from cache, 0 from heap/, 'a query just after the start');
await_start();
is(disk('restored_chunks'), $saved, 'restored after starts that were stopped');

# A file system that takes no more.
$node->stop;
$node->append_conf('postgresql.conf', "penumbra.disk_cache_size = '1GB'");
ok(system('sh', '-c', 'ulimit -f 33000; exec pg_ctl -w -D "$0" -l "$1" start >/dev/null', $node->data_dir, $node->logfile) == 0,
	'started with a limit of 17 MB per file');
$node->_update_pid(1);
$size = -s $node->logfile;
ask("SELECT penumbra.load('t$_')") foreach 1 .. 3;
ask(q{SELECT penumbra.load('t')});
$node->poll_query_until('postgres', 'SELECT write_errors > 0 FROM penumbra.disk') or die;
log_has(qr/could not write cached columns below ".*": File too large/, 'full file system');
is(ask("$hashes$_"), '80000|80000|3200040000', "answer $_ with it") foreach 1 .. 3;

$node->stop;
done_testing();
