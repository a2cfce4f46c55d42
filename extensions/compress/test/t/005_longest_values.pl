# Values of 1 GB through every method: minutes and 3 GB of memory, so on demand: PG_TEST_EXTRA=longest_values
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'PG_TEST_EXTRA does not say longest_values'
  unless ($ENV{PG_TEST_EXTRA} // '') =~ /\blongest_values\b/;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION penumbra_compress');
my $methods = $node->safe_psql('postgres', q{SELECT name FROM compression_methods WHERE name <> 'none' ORDER BY id});
foreach my $method (split /\n/, $methods)
{
	is($node->safe_psql('postgres', qq{SELECT * FROM check_compression_method('$method', longest => true) WHERE NOT passed}, timeout => 1800),
		'', $method);
}
$node->stop;
done_testing();
