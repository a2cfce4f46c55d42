# Tables of all types and methods, one of another extension, one with a dictionary; and what they hold.
package Samples;
use strict;
use warnings;

sub create
{
	my ($node) = @_;
	$node->safe_psql(
		'postgres', q{
		CREATE EXTENSION penumbra_compress;
		CREATE EXTENSION penumbra_compress_example;
		CREATE TABLE sample AS SELECT format('the quick brown fox %s, "name": "value %s", "status": %s', g, md5(g::text), g % 3) AS t FROM generate_series(1, 3000) g;
		SELECT train_dictionary('sample', 't', 4096, 'words');
		DROP TABLE sample;
		CREATE TABLE mixed (id int PRIMARY KEY, t compressed_text(zlib, 4), j compressed_jsonb, b compressed_bytea(brotli, 3));
		CREATE TABLE with_dictionary (id int PRIMARY KEY, t compressed_text(zstd, 3, words));
		CREATE TABLE custom (id int PRIMARY KEY, t compressed_text(rle), j compressed_jsonb(forgetful));
		CREATE INDEX ON mixed (t);
		CREATE INDEX ON mixed USING hash (t);
		CREATE INDEX ON mixed USING gin (j);
		CREATE VIEW short AS SELECT id FROM mixed WHERE t = 'short' AND j @> '{"a": 1}';
		INSERT INTO mixed SELECT g, repeat('text ' || g, g * 7), jsonb_build_object('a', g, 'list', array_agg(i)), decode(repeat(md5(g::text), g % 50), 'hex')
			FROM generate_series(1, 400) g, generate_series(1, 20) i GROUP BY g;
		INSERT INTO with_dictionary SELECT g, format('the quick brown fox %s, "name": "value", "status": %s', g, g % 3) FROM generate_series(1, 200) g;
		INSERT INTO custom SELECT g, repeat('a', g * 100), jsonb_build_object('zeros', repeat('0', g)) FROM generate_series(1, 200) g;
	});
	return;
}

# What is in them, and how the values are stored.
sub contents
{
	my ($node, $database) = @_;
	return $node->safe_psql(
		$database // 'postgres', q{
		SELECT 'mixed', count(*), md5(string_agg(concat(id, t::text, j::text, b::text), ',' ORDER BY id)) FROM mixed;
		SELECT 'with_dictionary', count(*), md5(string_agg(concat(id, t::text), ',' ORDER BY id)) FROM with_dictionary;
		SELECT 'custom', count(*), md5(string_agg(concat(id, t::text, j::text), ',' ORDER BY id)) FROM custom;
	});
}

sub storage
{
	my ($node, $database) = @_;
	return $node->safe_psql(
		$database // 'postgres', q{
		SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute
			WHERE attrelid IN ('mixed'::regclass, 'with_dictionary'::regclass, 'custom'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attname;
		SELECT DISTINCT 't', (compression_info(t)).method, (compression_info(t)).dictionary FROM mixed ORDER BY 2;
		SELECT DISTINCT 'd', (compression_info(t)).method, (compression_info(t)).dictionary FROM with_dictionary ORDER BY 2;
		SELECT DISTINCT 'c', (compression_info(j)).method, (compression_info(j)).dictionary FROM custom ORDER BY 2;
	});
}

1;
