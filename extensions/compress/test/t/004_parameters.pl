# Parameters of drivers: compressed once, by the column's method, in plans that are made for their values and in others.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION penumbra_compress;
	CREATE TABLE named (t compressed_text(lz4));
	CREATE TABLE pairs (t compressed_text(lz4), u compressed_text);
	CREATE TABLE states (mode text, count bigint);
});

my $directory = PostgreSQL::Test::Utils::tempdir;
my $text = 'words of a text ' x 40;
my $transactions = 12;
append_to_file("$directory/once.sql", <<'SQL');
INSERT INTO named VALUES (:text);
INSERT INTO states SELECT :mode, count(*) FROM pg_backend_memory_contexts WHERE name = 'compression state';
SQL
append_to_file("$directory/both.sql", <<'SQL');
WITH n AS (INSERT INTO named VALUES (:text)) INSERT INTO pairs VALUES (:text, :text);
SQL
foreach my $mode ('simple', 'extended', 'prepared')
{
	my @run = ('pgbench', '--no-vacuum', "--transactions=$transactions", "--protocol=$mode");
	# pgbench replaces variables by their text in the simple protocol, which needs the quotes
	my $quote = $mode eq 'simple' ? "'" : '';
	push @run, '-D', "text=$quote$text$quote", '-D', "mode=$quote$mode$quote";
	$node->command_ok([ @run, "--file=$directory/once.sql", 'postgres' ], "$mode: inserts");
	is($node->safe_psql('postgres', "SELECT DISTINCT count FROM states WHERE mode = '$mode'"), '1',
		"$mode: the column's method is the only one that was used");
	$node->command_ok([ @run, "--file=$directory/both.sql", 'postgres' ], "$mode: a parameter for several columns");
}
my $rows = 3 * $transactions;
is($node->safe_psql('postgres', "SELECT DISTINCT (compression_info(t)).method, t = '$text' FROM named"), 'lz4|t', 'values');
is( $node->safe_psql('postgres', "SELECT (compression_info(t)).method, (compression_info(u)).method, count(*) FROM pairs
	WHERE t = '$text' AND u = '$text' GROUP BY 1, 2"),
	"lz4|zstd|$rows", 'values of both columns');
$node->stop;
done_testing();
