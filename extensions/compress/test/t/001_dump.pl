# pg_dump and pg_restore with parallel jobs, tables before dictionaries, pg_upgrade.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Samples;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;
Samples::create($node);
my $contents = Samples::contents($node);
my $storage = Samples::storage($node);
like($storage, qr/^d\|zstd\|\d+$/m, 'a dictionary is used');
like($storage, qr/^c\|forgetful\|$/m, 'a method of another extension is used');

my $dump = $node->backup_dir . '/dump';
$node->command_ok([ 'pg_dump', '--format=directory', '--jobs=2', "--file=$dump", 'postgres' ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0; CREATE DATABASE reversed TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--jobs=4', '--dbname=restored', $dump ], 'restore');
is(Samples::contents($node, 'restored'), $contents, 'the same after restore');

# A dictionary may be restored after rows that want it; recompressing uses it.
$node->command_ok([ 'pg_restore', '--exit-on-error', '--section=pre-data', '--dbname=reversed', $dump ], 'definitions');
$node->command_ok([ 'pg_restore', '--exit-on-error', '--section=data', '--table=with_dictionary', '--dbname=reversed', $dump ],
	'rows before their dictionary');
is($node->safe_psql('reversed', 'SELECT count(*), count(DISTINCT (compression_info(t)).dictionary) FROM with_dictionary'),
	'200|0', 'they are compressed without it');
for my $table ('compression_dictionaries', 'mixed', 'custom')
{
	$node->command_ok([ 'pg_restore', '--exit-on-error', '--section=data', "--table=$table", '--dbname=reversed', $dump ], "rows of $table");
}
is(Samples::contents($node, 'reversed'), $contents, 'the same after a restore in reverse');
$node->safe_psql('reversed', "UPDATE with_dictionary SET t = t::text");
is(Samples::storage($node, 'reversed'), $storage, 'stored the same once rewritten');

# pg_upgrade moves the files: values, ids and modifiers as they are.
$node->safe_psql('postgres', 'DROP DATABASE restored');
$node->safe_psql('postgres', 'DROP DATABASE reversed');
$node->stop;
my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
chdir $PostgreSQL::Test::Utils::tmp_check;
command_ok([ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $upgraded->data_dir, '-b', $node->config_data('--bindir'), '-B',
		$upgraded->config_data('--bindir'), '-s', $node->host, '-p', $node->port, '-P', $upgraded->port ], 'pg_upgrade');
$upgraded->start;
is(Samples::contents($upgraded), $contents, 'the same after pg_upgrade');
is(Samples::storage($upgraded), $storage, 'stored the same after pg_upgrade');
is($upgraded->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM mixed WHERE t = repeat('text 9', 63)}), '1', 'index');

done_testing();
