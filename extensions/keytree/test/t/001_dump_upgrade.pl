# pg_dump and restore, pg_upgrade; new clusters that do not preload the library or do not have it.
use strict;
use warnings;
use File::Basename;
use File::Find;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

sub make_node
{
	my ($name, $preload, @options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, @options);
	$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nwal_level = replica\nshared_preload_libraries = '$preload'\n");
	return $node;
}

# What the indexes are, how many rows each of them gives, and that they are whole.
sub contents
{
	my ($node, $database) = @_;
	return $node->safe_psql($database // 'postgres', q{
		SET enable_seqscan = off; SET enable_sort = off;
		SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%keytree%' ORDER BY 1;
		SELECT count(k), sum(k), md5(string_agg(k::text, ',')) FROM (SELECT k FROM t ORDER BY k) x;
		SELECT count(u), md5(string_agg(u::text, ',')) FROM (SELECT u FROM t ORDER BY u DESC) x;
		SELECT count(*) FROM unlogged WHERE k > 0;
		SELECT count(penumbra_keytree.keytree_check(oid)::text) FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'keytree')});
}

my $node = make_node('main', 'penumbra_keytree');
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra_keytree;
	CREATE TABLE t (k int8, u uuid, d date);
	CREATE INDEX t_k ON t USING keytree (k);
	CREATE INDEX t_part ON t USING keytree (d) WHERE k > 500;
	ALTER TABLE t ADD CONSTRAINT one_u EXCLUDE USING keytree (u WITH =);
	INSERT INTO t SELECT nullif(i * 7919 % 100003, 77), md5(i::text)::uuid, date '2000-01-01' + i % 1000 FROM generate_series(1, 20000) i;
	DELETE FROM t WHERE k BETWEEN 1000 AND 20000;
	VACUUM t;
	CREATE UNLOGGED TABLE unlogged (k int);
	CREATE INDEX unlogged_k ON unlogged USING keytree (k);
	INSERT INTO unlogged SELECT generate_series(1, 2000)});
my $contents = contents($node);
my $dump = $node->backup_dir . '/dump';
$node->command_ok([ 'pg_dump', '--format=directory', "--file=$dump", 'postgres' ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--jobs=2', '--dbname=restored', $dump ], 'restore');
is(contents($node, 'restored'), $contents, 'the same after restore');
$node->safe_psql('postgres', 'DROP DATABASE restored');
$node->stop;

sub upgrade_command
{
	my ($new) = @_;
	return [ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $node->config_data('--bindir'),
		'-B', $new->config_data('--bindir'), '-s', $node->host, '-p', $node->port, '-P', $new->port ];
}

sub upgrade_logs
{
	my ($new) = @_;
	my $text = '';
	find(sub { $text .= slurp_file($_) if -f }, $new->data_dir . '/pg_upgrade_output.d');
	return $text;
}

chdir $PostgreSQL::Test::Utils::tmp_check;
my $forgotten = make_node('forgotten', '');
command_fails(upgrade_command($forgotten), 'pg_upgrade into a cluster that does not preload the library fails');
like(upgrade_logs($forgotten), qr/cannot change logged keytree index "\w+" because penumbra_keytree is not preloaded/, 'and says why');

# An installation of links, without the library.
my $bin = $node->config_data('--bindir');
my $lacking_root = $PostgreSQL::Test::Utils::tmp_check . '/lacking';
for my $kind ('--bindir', '--pkglibdir', '--sharedir')
{
	# whatever stands before them: programs find the other directories by their place beside their own
	my $path = $node->config_data($kind);
	system_or_bail('mkdir', '-p', $lacking_root . $path);
	system_or_bail('cp', $kind eq '--bindir' ? '-aL' : '-rs', "$path/.", $lacking_root . $path);
	unlink "$lacking_root$path/penumbra_keytree.so";
}
my $lacking = make_node('lacking', '', install_path => $lacking_root . dirname($bin));
my ($stdout, $stderr);
ok(!IPC::Run::run(upgrade_command($lacking), '>', \$stdout, '2>', \$stderr), 'pg_upgrade into a cluster without the library fails');
like($stdout . $stderr . upgrade_logs($lacking), qr/could not load library "(\$libdir\/)?penumbra_keytree"/, 'and names it');

my $upgraded = make_node('upgraded', 'penumbra_keytree');
command_ok(upgrade_command($upgraded), 'pg_upgrade');
$upgraded->start;
is(contents($upgraded), $contents, 'the same after pg_upgrade');
$upgraded->safe_psql('postgres', q{INSERT INTO t SELECT i, md5('b' || i)::uuid FROM generate_series(1, 5000) i; VACUUM t});
like(contents($upgraded), qr/^4$/m, 'and can be changed');

done_testing();
