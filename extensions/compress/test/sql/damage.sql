-- Damaged values: every bit flipped, every truncation; an error XX001 or the right answer, never another.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;
CREATE CAST (bytea AS compressed_text) WITHOUT FUNCTION;
CREATE CAST (compressed_text AS bytea) WITHOUT FUNCTION;
CREATE FUNCTION read_damaged(stored bytea, expected text, OUT outcome text) LANGUAGE plpgsql AS $$
BEGIN
  outcome := CASE WHEN stored::compressed_text::text = expected THEN 'right' ELSE 'wrong' END;
EXCEPTION
  WHEN data_corrupted THEN outcome := 'XX001';
  WHEN undefined_object THEN outcome := 'no such method or dictionary';
END $$;
CREATE TABLE samples AS SELECT method, x.raw, x.value::bytea AS stored FROM (VALUES
    ('short pglz', repeat('abcdefgh wörld', 20), repeat('abcdefgh wörld', 20)::compressed_text(pglz)),
    ('short lz4', repeat('abcdefgh wörld', 20), repeat('abcdefgh wörld', 20)::compressed_text(lz4)),
    ('short zlib', repeat('abcdefgh wörld', 20), repeat('abcdefgh wörld', 20)::compressed_text(zlib)),
    ('short gzip', repeat('abcdefgh wörld', 20), repeat('abcdefgh wörld', 20)::compressed_text(gzip)),
    ('short zstd', repeat('abcdefgh wörld', 20), repeat('abcdefgh wörld', 20)::compressed_text(zstd)),
    ('short snappy', repeat('abcdefgh wörld', 20), repeat('abcdefgh wörld', 20)::compressed_text(snappy)),
    ('short brotli', repeat('abcdefgh wörld', 20), repeat('abcdefgh wörld', 20)::compressed_text(brotli)),
    ('blocks zstd', repeat('abcdefgh wörld', 9000), repeat('abcdefgh wörld', 9000)::compressed_text(zstd))
  ) x (method, raw, value);
-- Flags of characters and the method id of stored-raw values do not change the bytes, all else does or is an error.
SELECT method, outcome, count(*) > 0 AS some FROM samples, generate_series(0, length(stored) * 8 - 1) bit, read_damaged(set_bit(stored, bit, 1 - get_bit(stored, bit)), raw)
GROUP BY 1, 2 HAVING outcome = 'wrong';
SELECT method, outcome, count(*) > 0 AS some FROM samples, generate_series(0, length(stored) - 1) cut, read_damaged(substr(stored, 1, cut), raw)
GROUP BY 1, 2 ORDER BY 1, 2;
SELECT outcome FROM read_damaged(''::bytea, '');
-- Lengths that lie: the raw length is after flags and method.
SELECT DISTINCT outcome FROM samples, (VALUES ('\xffffffff0f'), ('\xffffff7f'), ('\x808080800f'), ('\x00'), ('\x8080808080')) v (lie),
  read_damaged(substr(stored, 1, 2) || lie::bytea || substr(stored, 5), raw);
SELECT '\x00'::bytea::compressed_text;
SELECT '\x150500ffffffff'::bytea::compressed_text::text;
SELECT '\x10050a000000000102'::bytea::compressed_text::text;
SELECT '\x110501000000030a000000000102'::bytea::compressed_text::text;
-- Slices and lengths of damaged values stay in bounds.
CREATE FUNCTION slice_damaged(stored bytea, OUT outcome text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM substring(stored::compressed_text, 100, 50), "left"(stored::compressed_text, 10), length(stored::compressed_text),
    stored::compressed_text = 'x', starts_with(stored::compressed_text, 'abc'), substring(stored::compressed_text, 100000, 50);
  outcome := 'read';
EXCEPTION
  WHEN data_corrupted OR undefined_object OR character_not_in_repertoire THEN outcome := 'error';
END $$;
SELECT outcome, count(*) > 0 AS some FROM samples, generate_series(0, length(stored) * 8 - 1) bit, slice_damaged(set_bit(stored, bit, 1 - get_bit(stored, bit)))
GROUP BY 1 ORDER BY 1;
DROP CAST (bytea AS compressed_text);
DROP CAST (compressed_text AS bytea);
