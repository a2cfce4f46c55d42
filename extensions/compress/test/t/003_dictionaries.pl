# Dictionaries in dumps, restored in any order, and on a subscriber and a standby.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "session_preload_libraries = 'penumbra_compress'\nfsync = off");
$node->start;
my $directory = PostgreSQL::Test::Utils::tempdir;

sub sql { return $node->safe_psql(@_); }

sql('postgres', 'CREATE DATABASE origin');
# The extension's schema is after "application" and before "zeal" in the order of a dump.
sql('origin', <<'SQL');
CREATE SCHEMA library;
CREATE EXTENSION penumbra_compress SCHEMA library;
CREATE SCHEMA application;
CREATE SCHEMA zeal;
CREATE TABLE application.documents AS
SELECT i AS id, jsonb_build_object('identifier', md5(i::text), 'kind', 'invoice number ' || i % 7,
    'customer', jsonb_build_object('name', 'Customer number ' || i % 97, 'city', md5((i % 11)::text))) AS body
FROM generate_series(1, 5000) i;
ALTER TABLE application.documents ADD PRIMARY KEY (id);
SELECT library.train_dictionary('application.documents', 'body', 8192, 'invoices');
ALTER TABLE application.documents ALTER COLUMN body TYPE library.compressed_jsonb(zstd, 3, 'invoices');
CREATE INDEX ON application.documents ((body ->> 'kind'));
CREATE TABLE zeal.documents AS TABLE application.documents;
SQL

my $digest = q{SELECT count(*), md5(string_agg(body::text, ',' ORDER BY id)) FROM };
my $with = q{SELECT count(*) FROM application.documents
	WHERE (library.compression_info(body)).dictionary = (SELECT id FROM library.compression_dictionaries)};
my $wanted = sql('origin', "$digest application.documents");

sub restored_like_origin
{
	my ($database, $how) = @_;
	foreach my $table ('application.documents', 'zeal.documents')
	{
		is(sql($database, "$digest $table"), $wanted, "$how: $table has its values");
	}
	is(sql($database, 'SELECT id, number, name, md5(content), trained_on FROM library.compression_dictionaries'),
		sql('origin', 'SELECT id, number, name, md5(content), trained_on FROM library.compression_dictionaries'),
		"$how: the dictionary is the same");
	return;
}

# As pg_dump and pg_restore come, with one and with several jobs
$node->command_ok(['pg_dump', '-Fd', '-j', '2', '-f', "$directory/dump", 'origin'], 'pg_dump -j');
foreach my $jobs (1, 3)
{
	sql('postgres', "CREATE DATABASE restored_$jobs");
	$node->command_ok(['pg_restore', '-j', $jobs, '-d', "restored_$jobs", "$directory/dump"],
		"pg_restore -j $jobs");
	restored_like_origin("restored_$jobs", "restored by $jobs jobs");
}

# The dictionaries' data after or before all other data
my ($list) = run_command(['pg_restore', '-l', "$directory/dump"]);
my @entries = grep { !/^;/ } split /\n/, $list;
my $is_dictionary = qr/TABLE DATA library compression_dictionaries /;
my $is_data = qr/TABLE DATA /;
my ($dictionary) = grep { /$is_dictionary/ } @entries;
ok($dictionary, 'the dictionaries are in the dump');
foreach my $order ('first', 'last')
{
	my @data = grep { /$is_data/ && !/$is_dictionary/ } @entries;
	my @before = grep { !/$is_data/ && !/INDEX|CONSTRAINT/ } @entries;
	my @after = grep { !/$is_data/ && /INDEX|CONSTRAINT/ } @entries;
	@data = $order eq 'first' ? ($dictionary, @data) : (@data, $dictionary);
	append_to_file("$directory/$order", join("\n", @before, @data, @after) . "\n");
	sql('postgres', "CREATE DATABASE restored_$order");
	my $log_before = -s $node->logfile;
	$node->command_ok(['pg_restore', '-L', "$directory/$order", '-d', "restored_$order", "$directory/dump"],
		"pg_restore, dictionaries $order");
	my $log = slurp_file($node->logfile, $log_before);
	restored_like_origin("restored_$order", "dictionaries $order");
	if ($order eq 'last')
	{
		my @warnings = $log =~ /WARNING:  compression dictionary number \d+ does not exist/g;
		is(scalar @warnings, 2, 'one warning for each table');
		is(sql("restored_$order", $with), 0, 'values were compressed without it');
		# the last step of docs/compress.md
		sql("restored_$order", <<'SQL');
SET search_path = library;
SELECT format('CALL recompress(%L, %L)', attrelid::regclass, attname)
FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE atttypid IN ('compressed_text'::regtype, 'compressed_jsonb'::regtype, 'compressed_bytea'::regtype)
  AND atttypmod >> 18 > 0 AND relkind = 'r' AND NOT attisdropped AND attgenerated = '' \gexec
SQL
		restored_like_origin("restored_$order", 'recompressed');
	}
	else
	{
		unlike($log, qr/WARNING/, 'no warning');
	}
	is(sql("restored_$order", $with), 5000, "dictionaries $order: values use the dictionary");
}

# The three steps of docs/compress.md: nothing is compressed without its dictionary.
sql('postgres', 'CREATE DATABASE restored_in_steps');
my @restore = ('pg_restore', '-d', 'restored_in_steps');
$node->command_ok([@restore, '--section=pre-data', "$directory/dump"], 'tables');
$node->command_ok([@restore, '--data-only', '--table=compression_dictionaries', "$directory/dump"], 'dictionaries');
append_to_file("$directory/rest", join("\n", grep { !/TABLE DATA .* compression_dictionaries / } split /\n/, $list) . "\n");
$node->command_ok([@restore, '--section=data', '--section=post-data', '-j', '2', '-L', "$directory/rest", "$directory/dump"], 'the rest');
restored_like_origin('restored_in_steps', 'restored in steps');
is(sql('restored_in_steps', $with), 5000, 'restored in steps: values use the dictionary');

# Logical replication: the values travel as text, and the publisher needs the dictionary to send them.
sql('postgres', 'CREATE DATABASE subscriber');
my ($schema) = run_command(['pg_dump', '-s', '-d', $node->connstr('origin')]);
append_to_file("$directory/schema.sql", $schema);
$node->command_ok(['psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('subscriber'), '-f', "$directory/schema.sql"],
	'schema of the subscriber');
sql('origin', 'CREATE PUBLICATION documents FOR TABLE application.documents');
sql('origin', q{SELECT pg_create_logical_replication_slot('documents', 'pgoutput')});
sql('subscriber', "CREATE SUBSCRIPTION documents CONNECTION 'host=" . $node->host . ' port=' . $node->port
	. " dbname=origin' PUBLICATION documents WITH (create_slot = false, slot_name = 'documents')");
$node->wait_for_subscription_sync($node, 'documents', 'subscriber');
sql('origin', <<'SQL');
INSERT INTO application.documents
SELECT id + 10000, body::jsonb || '{"added": true}' FROM application.documents WHERE id <= 1000;
UPDATE application.documents SET body = body::jsonb || '{"changed": true}' WHERE id <= 10;
SQL
# A dictionary made and used in the transaction that is decoded
sql('origin', <<'SQL');
BEGIN;
SELECT library.train_dictionary('application.documents', 'body', 4096, 'second');
ALTER TABLE application.documents ALTER COLUMN body TYPE library.compressed_jsonb(zstd, 3, 'second');
INSERT INTO application.documents
SELECT id + 20000, body::jsonb || '{"added": "again"}' FROM application.documents WHERE id <= 1000;
COMMIT;
SQL
$node->wait_for_catchup('documents');
is(sql('subscriber', "$digest application.documents"), sql('origin', "$digest application.documents"),
	'a subscriber has the same values');
sql('subscriber', 'DROP SUBSCRIPTION documents');

# A standby reads values of both dictionaries.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is($standby->safe_psql('origin', "$digest application.documents"), sql('origin', "$digest application.documents"),
	'a standby reads the same values');

$standby->stop;
$node->stop;
done_testing();
