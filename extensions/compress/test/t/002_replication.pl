# A standby; logical replication into tables of other methods.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Samples;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical', extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$subscriber->start;

Samples::create($node);
$node->wait_for_catchup($standby);
is(Samples::contents($standby), Samples::contents($node), 'standby: contents');
is(Samples::storage($standby), Samples::storage($node), 'standby: storage');

# The subscriber has neither the dictionary nor the other extension's methods.
$subscriber->safe_psql(
	'postgres', q{
	CREATE EXTENSION penumbra_compress;
	CREATE TABLE mixed (id int PRIMARY KEY, t text, j compressed_jsonb(lz4), b compressed_bytea(zstd, 9));
	CREATE TABLE with_dictionary (id int PRIMARY KEY, t compressed_text(gzip));
	CREATE TABLE custom (id int PRIMARY KEY, t compressed_text(snappy), j jsonb);
});
$node->safe_psql('postgres', 'ALTER TABLE mixed REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE mixed, with_dictionary, custom');
my $connection = $node->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '$connection' PUBLICATION p");
$subscriber->wait_for_subscription_sync($node, 's');
is(Samples::contents($subscriber), Samples::contents($node), 'initial copy');

# Decoded from WAL: output functions read methods and dictionaries of the past.
$node->safe_psql(
	'postgres', q{
	UPDATE mixed SET t = t || ' more' WHERE id % 3 = 0;
	DELETE FROM mixed WHERE id % 5 = 0;
	UPDATE with_dictionary SET t = (t || ', "name": "value"')::compressed_text WHERE id < 50;
	INSERT INTO with_dictionary VALUES (1000, 'the quick brown fox, "name": "value"');
	INSERT INTO custom VALUES (1000, repeat('b', 5000), '{"c": "ccccccccccccccccccccccccccccccccccccccccccc"}');
});
$node->wait_for_catchup('s');
is(Samples::contents($subscriber), Samples::contents($node), 'changes');

done_testing();
