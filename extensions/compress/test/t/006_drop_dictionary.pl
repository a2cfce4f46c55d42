# Dropping a dictionary while others are in the database, and what reads older states afterwards.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'penumbra_compress'
max_prepared_transactions = 2
autovacuum = off
fsync = off
CONF
$node->start;

sub sql { return $node->safe_psql('subject', @_); }

# The error of a CALL, or nothing
sub drop_error
{
	my ($out, $err) = ('', '');
	$node->psql('subject', q{CALL drop_dictionary('d')}, stdout => \$out, stderr => \$err);
	return $err;
}

$node->safe_psql('postgres', 'CREATE DATABASE subject');
sql(<<'SQL');
CREATE EXTENSION penumbra_compress;
CREATE TABLE source AS SELECT i AS id, 'invoice number ' || i % 97 || ' of customer ' || md5((i % 31)::text) AS t
FROM generate_series(1, 4000) i;
SELECT train_dictionary('source', 't', 2048, 'd');
CREATE TABLE documents (id integer PRIMARY KEY, t compressed_text(zstd, 3, 'd'));
CREATE PUBLICATION documents FOR TABLE documents;
SELECT pg_create_logical_replication_slot('documents', 'pgoutput');
INSERT INTO documents SELECT * FROM source LIMIT 10;
SQL
is(sql(q{SELECT count(*) FROM documents WHERE (compression_info(t)).dictionary IS NOT NULL}), '10',
	'values have the dictionary');
like(drop_error(), qr/in use.*values in column t of public\.documents/s, 'values are found');

# A value of a transaction that is prepared
sql(q{BEGIN; INSERT INTO documents SELECT id + 100, t FROM documents; PREPARE TRANSACTION 'holder'});
like(drop_error(), qr/accessed by others.*0 other sessions and 1 prepared transactions/s, 'a prepared transaction is in the way');
sql(q{ROLLBACK PREPARED 'holder'});
sql(q{ALTER TABLE documents ALTER t TYPE compressed_text(lz4)});
sql(q{CALL recompress('documents', 't')});

# Another session, whatever it holds
my $other = $node->background_psql('subject');
$other->query_safe(q{SELECT 1});
like(drop_error(), qr/accessed by others.*1 other sessions/s, 'another session is in the way');
$other->quit;

# What was written before is decoded with the dictionary.
my $decode = q{SELECT count(*) FILTER (WHERE position('invoice number'::bytea IN data) > 0)
	FROM pg_logical_slot_get_binary_changes('documents', NULL, NULL, 'proto_version', '1', 'publication_names', 'documents')};
like(drop_error(), qr/logical replication slots have changes to decode/, 'a logical slot is behind');
is(sql(q{SELECT count(*) FROM compression_dictionaries}), '1', 'the dictionary is there');
cmp_ok(sql($decode), '>=', 10, 'old changes are decoded');
# The server may write something in between.
my $error;
foreach my $attempt (1 .. 100)
{
	sql($decode);
	$error = drop_error();
	last unless $error =~ /have changes to decode/;
}
is($error, '', 'nothing is in the way');
is(sql('SELECT count(*) FROM compression_dictionaries'), '0', 'the dictionary is gone');
is(sql(q{SELECT count(*) FROM documents d JOIN source s USING (id) WHERE d.t = s.t}), '10', 'its values are not');

$node->stop;
done_testing();
