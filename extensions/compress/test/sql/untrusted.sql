-- Functions that SQL lets anybody call, with arguments that nobody expects.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS penumbra_compress;
RESET client_min_messages;

-- the trigger of "dictionaries" on a table of somebody else's choice
CREATE TABLE forged (id bigint, number bigint, name text, content bigint);
CREATE TRIGGER guard BEFORE INSERT ON forged FOR EACH ROW EXECUTE FUNCTION guard_dictionaries();
INSERT INTO forged VALUES (1, 1, 'a', 4096);
INSERT INTO forged VALUES (NULL, NULL, NULL, NULL);
DROP TABLE forged;
CREATE TABLE forged (id bigint);
CREATE TRIGGER guard BEFORE INSERT ON forged FOR EACH STATEMENT EXECUTE FUNCTION guard_dictionaries();
INSERT INTO forged VALUES (1);
SELECT guard_dictionaries();
\set VERBOSITY terse
INSERT INTO compression_dictionaries (id, number, name, content, trained_on) VALUES (1, 1, 'a', NULL, 't');
INSERT INTO compression_dictionaries (number, name, content, trained_on) VALUES (1, 'a', 'content', 't');
\set VERBOSITY default
CREATE ROLE regress_anybody;
GRANT ALL ON SCHEMA public TO regress_anybody;
SET ROLE regress_anybody;
CREATE TABLE own (id bigint, number bigint, name text, content bigint);
CREATE TRIGGER guard BEFORE INSERT ON own FOR EACH ROW EXECUTE FUNCTION guard_dictionaries();
RESET ROLE;
DROP OWNED BY regress_anybody;
DROP ROLE regress_anybody;

-- type modifiers made by hand; level 47 is none
CREATE FUNCTION outcome(method integer, level integer, dictionary integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    modifier integer := method | ((level + 16) << 12) | (dictionary << 18);
    outcomes text[];
BEGIN
    FOR way IN 1 .. 4 LOOP
        BEGIN
            PERFORM CASE way
                WHEN 1 THEN length(compressed_text(repeat('abcdefgh', 1000), modifier, false))
                WHEN 2 THEN length(compressed_text(repeat('abcdefgh', 1000)::compressed_text(lz4), modifier, false))
                WHEN 3 THEN octet_length(compressed_bytea_in(repeat('abcdefgh', 1000)::cstring, 0, modifier))
                ELSE octet_length(recompressed(('"' || repeat('abcdefgh', 1000) || '"')::jsonb::compressed_jsonb, modifier, true)) END;
            outcomes[way] := 'compressed';
        EXCEPTION WHEN OTHERS THEN
            outcomes[way] := SQLSTATE || ' ' || SQLERRM;
        END;
    END LOOP;
    RETURN (SELECT string_agg(DISTINCT o, ', ') FROM unnest(outcomes) o);
END $$;
SELECT method, level, dictionary, outcome(method, level, dictionary)
FROM (VALUES (3, 6, 0), (3, -16, 0), (3, 46, 0), (3, 47, 0), (7, 46, 0), (5, 46, 0), (5, -16, 0), (2, -16, 0),
    (3, 6, 5), (2, 9, 5), (1, 47, 5), (0, 47, 5), (100, 0, 0), (4095, 47, 8191)) v (method, level, dictionary);
DROP FUNCTION outcome;
SELECT compression_typmod_out(modifier) FROM unnest('{-1,0,2147483647,-2147483648,100}'::integer[]) modifier;
SELECT compression_typmod_in('{}');
SELECT compression_typmod_in('{zstd,NULL}');
SELECT compression_typmod_in('{{zstd,3},{zstd,3}}');

-- functions of "internal" get no NULL
SELECT proname FROM pg_depend d JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
    JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE extname = 'penumbra_compress' AND 'internal'::regtype = ANY (proargtypes) AND NOT proisstrict;
DROP TABLE forged;
