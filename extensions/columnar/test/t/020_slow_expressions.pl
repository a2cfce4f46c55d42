# An expression that keeps a background load for too long is given up, and what else is wanted is loaded.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra'
penumbra.memory = '256MB'
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra;
	CREATE TABLE lines (id int, line text);
	INSERT INTO lines SELECT i, repeat(md5(i::text), 40) FROM generate_series(1, 100000) i;
	VACUUM ANALYZE lines;
	SELECT penumbra.load('lines');
});

# It has back references, so PostgreSQL's own engine tries one way after the other: more than a millisecond for each row.
my $slow = q{line ~ '(.)(.)(.)(.)(.)(.)\6\5\4\3\2\1.*\1{4}'};
my $other = q{to_hex(hashtext(line))};

sub ask
{
	my ($condition) = @_;

	$node->safe_psql('postgres', "EXPLAIN SELECT count(*) FROM lines WHERE $condition");
}

# what one query alone looked for is not loaded
ask($slow) for (1 .. 3);
$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM penumbra.progress WHERE by_worker') or die;
ask("$other < '8'") for (1 .. 3);
ok($node->wait_for_log(qr/expression of relation "lines" takes too long to be cached in the background/), 'it is given up');
ask("$other < '8'") for (1 .. 3);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM penumbra.columns WHERE column_name ~ 'to_hex' AND coverage_percent = 100}),
	'what else is wanted is loaded');
is($node->safe_psql('postgres', q{SELECT count(*) FROM penumbra.columns WHERE column_name ~ '~'}), 0, 'it is not');

# it is not tried again at once, and a load that somebody asks for can be cancelled
ask($slow) for (1 .. 3);
$node->poll_query_until('postgres', q{
	SELECT wanted_columns = 0 AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'penumbra worker')
	FROM penumbra.activity
}) or die;
my @given_up = slurp_file($node->logfile) =~ /takes too long/g;
is(scalar @given_up, 1, 'it is not tried again');
my ($code, $out, $error) = $node->psql('postgres', qq{SET statement_timeout = 500; SELECT penumbra.load('lines', ARRAY[\$\$$slow\$\$])});
like($error, qr/too long, has failed for a row|canceling statement due to statement timeout/, 'a load by its name');
$node->stop;
done_testing();
