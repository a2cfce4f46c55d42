\echo Use "CREATE EXTENSION penumbra_compress" to load this file. \quit

-- Methods of other extensions, made anew by their scripts: not dumped. Output functions read these
-- tables during logical decoding.
CREATE TABLE registered_compression_methods (
    id bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    library text NOT NULL,
    symbol text NOT NULL,
    extension text NOT NULL
) WITH (user_catalog_table = true);
GRANT SELECT ON registered_compression_methods TO PUBLIC;

CREATE TABLE compression_dictionaries (
    id bigint PRIMARY KEY,
    number bigint NOT NULL UNIQUE,
    name text COLLATE "C" NOT NULL UNIQUE,
    content bytea NOT NULL,
    trained_on text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    owner text COLLATE "C" NOT NULL -- a name, which a dump can restore before the role
) WITH (user_catalog_table = true);
ALTER TABLE compression_dictionaries ALTER COLUMN content SET STORAGE EXTERNAL;
-- Not the content: it has parts of users' values.
GRANT SELECT (id, number, name, trained_on, created_at, owner) ON compression_dictionaries TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('compression_dictionaries', '');

CREATE FUNCTION create_compression_method(name text, handler text) RETURNS integer
    LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME';
CREATE FUNCTION create_compression_method(name text, handler text, id integer) RETURNS integer
    LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME';
CREATE FUNCTION built_in_compression_methods(OUT id bigint, OUT name text)
    RETURNS SETOF record LANGUAGE C STRICT STABLE AS 'MODULE_PATHNAME';
CREATE FUNCTION compression_method_options(id bigint, OUT min_level integer, OUT max_level integer,
    OUT default_level integer, OUT takes_dictionary boolean)
    RETURNS record LANGUAGE C STRICT STABLE AS 'MODULE_PATHNAME';
CREATE VIEW compression_methods AS
    SELECT m.id, m.name, o.min_level, o.max_level, o.default_level, o.takes_dictionary, m.extension
    FROM (SELECT id, name, NULL AS extension FROM @extschema@.built_in_compression_methods()
          UNION ALL
          SELECT id, name, extension FROM @extschema@.registered_compression_methods) AS m,
        @extschema@.compression_method_options(m.id) AS o;
GRANT SELECT ON compression_methods TO PUBLIC;

CREATE FUNCTION check_compression_method(method text, longest boolean DEFAULT false, OUT "check" text, OUT passed boolean, OUT problem text)
    RETURNS SETOF record LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME';
-- It runs a method on damaged bytes, which may crash a server.
REVOKE ALL ON FUNCTION check_compression_method(text, boolean) FROM PUBLIC;

CREATE FUNCTION compression_typmod_in(cstring[]) RETURNS integer
    LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compression_typmod_out(integer) RETURNS cstring
    LANGUAGE C STRICT STABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compression_coerce_support(internal) RETURNS internal
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_like_support(internal) RETURNS internal
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';


-- compressed_text

CREATE TYPE compressed_text;
CREATE FUNCTION compressed_text_in(cstring, oid, integer) RETURNS compressed_text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_out(compressed_text) RETURNS cstring
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_recv(internal, oid, integer) RETURNS compressed_text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_send(compressed_text) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE TYPE compressed_text (
    INPUT = compressed_text_in, OUTPUT = compressed_text_out, RECEIVE = compressed_text_recv, SEND = compressed_text_send,
    TYPMOD_IN = compression_typmod_in, TYPMOD_OUT = compression_typmod_out,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external, CATEGORY = 'S', COLLATABLE = true);
CREATE FUNCTION compressed_text(text, integer, boolean) RETURNS compressed_text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 50 AS 'MODULE_PATHNAME', 'compressed_text_from_text';
CREATE FUNCTION text(compressed_text) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_text_to_text';
CREATE FUNCTION compressed_text(compressed_text, integer, boolean) RETURNS compressed_text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 50 SUPPORT compression_coerce_support AS 'MODULE_PATHNAME', 'compressed_text_coerce';
CREATE CAST (text AS compressed_text) WITH FUNCTION compressed_text(text, integer, boolean) AS ASSIGNMENT;
CREATE CAST (compressed_text AS text) WITH FUNCTION text(compressed_text) AS IMPLICIT;
CREATE CAST (compressed_text AS compressed_text) WITH FUNCTION compressed_text(compressed_text, integer, boolean) AS IMPLICIT;
CREATE FUNCTION compression_info(value compressed_text, OUT format_version integer, OUT method text,
    OUT level integer, OUT dictionary bigint, OUT raw_bytes integer, OUT stored_bytes integer, OUT blocks integer) RETURNS record
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE FUNCTION compressed_text_eq(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_ne(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_lt(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_le(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_gt(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_ge(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_cmp(compressed_text, compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_text_eq(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_text_ne(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_text_lt(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_text_le(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_text_gt(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_text_ge(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_text_text_cmp(compressed_text, text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION text_compressed_text_eq(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION text_compressed_text_ne(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION text_compressed_text_lt(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION text_compressed_text_le(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION text_compressed_text_gt(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION text_compressed_text_ge(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION text_compressed_text_cmp(text, compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR = (FUNCTION = compressed_text_eq, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = compressed_text_ne, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = compressed_text_lt, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = compressed_text_le, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = compressed_text_gt, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = compressed_text_ge, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR = (FUNCTION = compressed_text_text_eq, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = compressed_text_text_ne, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = compressed_text_text_lt, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = compressed_text_text_le, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = compressed_text_text_gt, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = compressed_text_text_ge, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR = (FUNCTION = text_compressed_text_eq, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = text_compressed_text_ne, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = text_compressed_text_lt, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = text_compressed_text_le, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = text_compressed_text_gt, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = text_compressed_text_ge, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE FUNCTION compressed_text_hash(compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_hash';
CREATE FUNCTION compressed_text_hash_extended(compressed_text, bigint) RETURNS bigint
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_hash_extended';
CREATE FUNCTION compressed_text_hash(text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'plain_hash';
CREATE FUNCTION compressed_text_hash_extended(text, bigint) RETURNS bigint
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'plain_hash_extended';
CREATE FUNCTION compressed_text_sortsupport(internal) RETURNS void
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE OPERATOR FAMILY compressed_text_ops USING btree;
CREATE OPERATOR CLASS compressed_text_ops DEFAULT FOR TYPE compressed_text USING btree FAMILY compressed_text_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 compressed_text_cmp(compressed_text, compressed_text),
    FUNCTION 2 compressed_text_sortsupport(internal);
ALTER OPERATOR FAMILY compressed_text_ops USING btree ADD
    OPERATOR 1 < (compressed_text, text), OPERATOR 2 <= (compressed_text, text), OPERATOR 3 = (compressed_text, text), OPERATOR 4 >= (compressed_text, text), OPERATOR 5 > (compressed_text, text),
    FUNCTION 1 (compressed_text, text) compressed_text_text_cmp(compressed_text, text),
    OPERATOR 1 < (text, compressed_text), OPERATOR 2 <= (text, compressed_text), OPERATOR 3 = (text, compressed_text), OPERATOR 4 >= (text, compressed_text), OPERATOR 5 > (text, compressed_text),
    FUNCTION 1 (text, compressed_text) text_compressed_text_cmp(text, compressed_text),
    OPERATOR 1 pg_catalog.< (text, text), OPERATOR 2 pg_catalog.<= (text, text), OPERATOR 3 pg_catalog.= (text, text), OPERATOR 4 pg_catalog.>= (text, text), OPERATOR 5 pg_catalog.> (text, text),
    FUNCTION 1 (text, text) pg_catalog.bttextcmp(text, text);
CREATE OPERATOR FAMILY compressed_text_ops USING hash;
CREATE OPERATOR CLASS compressed_text_ops DEFAULT FOR TYPE compressed_text USING hash FAMILY compressed_text_ops AS
    OPERATOR 1 =,
    FUNCTION 1 compressed_text_hash(compressed_text), FUNCTION 2 compressed_text_hash_extended(compressed_text, bigint);
ALTER OPERATOR FAMILY compressed_text_ops USING hash ADD
    OPERATOR 1 = (compressed_text, text), OPERATOR 1 = (text, compressed_text), OPERATOR 1 pg_catalog.= (text, text),
    FUNCTION 1 (text, text) compressed_text_hash(text),
    FUNCTION 2 (text, text) compressed_text_hash_extended(text, bigint);

CREATE FUNCTION octet_length(compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'compressed_octet_length';
CREATE FUNCTION length(compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'compressed_text_length';
CREATE FUNCTION "substring"(compressed_text, integer, integer) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_text_substring';
CREATE FUNCTION "substring"(compressed_text, integer) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_text_substring';
-- Beside the numbers' substring, that of patterns would else not be found.
CREATE FUNCTION "substring"(compressed_text, text) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_text_regex_substring';
CREATE FUNCTION "substring"(compressed_text, text, text) RETURNS text
    LANGUAGE sql STRICT IMMUTABLE PARALLEL SAFE
    AS 'SELECT pg_catalog.substring($1::pg_catalog.text, pg_catalog.similar_to_escape($2, $3))';
CREATE FUNCTION substr(compressed_text, integer, integer) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_text_substring';
CREATE FUNCTION substr(compressed_text, integer) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_text_substring';
CREATE FUNCTION char_length(compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'compressed_text_length';
CREATE FUNCTION character_length(compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'compressed_text_length';
CREATE FUNCTION left(compressed_text, integer) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_text_left';
CREATE FUNCTION starts_with(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_text_starts_with';
CREATE FUNCTION compressed_text_concat(compressed_text, compressed_text) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR || (FUNCTION = compressed_text_concat, LEFTARG = compressed_text, RIGHTARG = compressed_text);
CREATE FUNCTION compressed_text_concat_text(compressed_text, text) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR || (FUNCTION = compressed_text_concat_text, LEFTARG = compressed_text, RIGHTARG = text);
CREATE FUNCTION text_concat_compressed_text(text, compressed_text) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR || (FUNCTION = text_concat_compressed_text, LEFTARG = text, RIGHTARG = compressed_text);

CREATE FUNCTION compressed_text_like(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 SUPPORT compressed_text_like_support AS 'MODULE_PATHNAME';
CREATE OPERATOR ~~ (FUNCTION = compressed_text_like, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = !~~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_notlike(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR !~~ (FUNCTION = compressed_text_notlike, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = ~~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_ilike(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ~~* (FUNCTION = compressed_text_ilike, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = !~~*, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_notilike(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR !~~* (FUNCTION = compressed_text_notilike, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = ~~*, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_regex_eq(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ~ (FUNCTION = compressed_text_regex_eq, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = !~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_regex_ne(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR !~ (FUNCTION = compressed_text_regex_ne, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = ~, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_regex_ieq(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ~* (FUNCTION = compressed_text_regex_ieq, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = !~*, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_regex_ine(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR !~* (FUNCTION = compressed_text_regex_ine, LEFTARG = compressed_text, RIGHTARG = text, NEGATOR = ~*, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_text_starts_with(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME';
CREATE OPERATOR ^@ (FUNCTION = compressed_text_starts_with, LEFTARG = compressed_text, RIGHTARG = text, RESTRICT = matchingsel, JOIN = matchingjoinsel);

-- The order of bytes whatever the collation, for LIKE 'prefix%': the functions of compressed_bytea.
CREATE FUNCTION compressed_text_pattern_lt(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_lt';
CREATE FUNCTION compressed_text_pattern_le(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_le';
CREATE FUNCTION compressed_text_pattern_ge(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_ge';
CREATE FUNCTION compressed_text_pattern_gt(compressed_text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_gt';
CREATE FUNCTION compressed_text_pattern_cmp(compressed_text, compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_cmp';
CREATE FUNCTION compressed_text_text_pattern_lt(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_bytea_lt';
CREATE FUNCTION compressed_text_text_pattern_le(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_bytea_le';
CREATE FUNCTION compressed_text_text_pattern_ge(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_bytea_ge';
CREATE FUNCTION compressed_text_text_pattern_gt(compressed_text, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_bytea_gt';
CREATE FUNCTION compressed_text_text_pattern_cmp(compressed_text, text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_bytea_cmp';
CREATE FUNCTION text_compressed_text_pattern_lt(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'bytea_compressed_bytea_lt';
CREATE FUNCTION text_compressed_text_pattern_le(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'bytea_compressed_bytea_le';
CREATE FUNCTION text_compressed_text_pattern_ge(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'bytea_compressed_bytea_ge';
CREATE FUNCTION text_compressed_text_pattern_gt(text, compressed_text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'bytea_compressed_bytea_gt';
CREATE FUNCTION text_compressed_text_pattern_cmp(text, compressed_text) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'bytea_compressed_bytea_cmp';
CREATE OPERATOR ~<~ (FUNCTION = compressed_text_pattern_lt, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = ~>~, NEGATOR = ~>=~, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR ~<=~ (FUNCTION = compressed_text_pattern_le, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = ~>=~, NEGATOR = ~>~, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR ~>=~ (FUNCTION = compressed_text_pattern_ge, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = ~<=~, NEGATOR = ~<~, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR ~>~ (FUNCTION = compressed_text_pattern_gt, LEFTARG = compressed_text, RIGHTARG = compressed_text, COMMUTATOR = ~<~, NEGATOR = ~<=~, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR ~<~ (FUNCTION = compressed_text_text_pattern_lt, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = ~>~, NEGATOR = ~>=~, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR ~<=~ (FUNCTION = compressed_text_text_pattern_le, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = ~>=~, NEGATOR = ~>~, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR ~>=~ (FUNCTION = compressed_text_text_pattern_ge, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = ~<=~, NEGATOR = ~<~, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR ~>~ (FUNCTION = compressed_text_text_pattern_gt, LEFTARG = compressed_text, RIGHTARG = text, COMMUTATOR = ~<~, NEGATOR = ~<=~, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR ~<~ (FUNCTION = text_compressed_text_pattern_lt, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = ~>~, NEGATOR = ~>=~, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR ~<=~ (FUNCTION = text_compressed_text_pattern_le, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = ~>=~, NEGATOR = ~>~, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR ~>=~ (FUNCTION = text_compressed_text_pattern_ge, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = ~<=~, NEGATOR = ~<~, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR ~>~ (FUNCTION = text_compressed_text_pattern_gt, LEFTARG = text, RIGHTARG = compressed_text, COMMUTATOR = ~<~, NEGATOR = ~<=~, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE FUNCTION compressed_text_pattern_sortsupport(internal) RETURNS void
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE OPERATOR FAMILY compressed_text_pattern_ops USING btree;
CREATE OPERATOR CLASS compressed_text_pattern_ops FOR TYPE compressed_text USING btree FAMILY compressed_text_pattern_ops AS
    OPERATOR 1 ~<~, OPERATOR 2 ~<=~, OPERATOR 3 =, OPERATOR 4 ~>=~, OPERATOR 5 ~>~,
    FUNCTION 1 compressed_text_pattern_cmp(compressed_text, compressed_text),
    FUNCTION 2 compressed_text_pattern_sortsupport(internal);
ALTER OPERATOR FAMILY compressed_text_pattern_ops USING btree ADD
    OPERATOR 1 ~<~ (compressed_text, text), OPERATOR 2 ~<=~ (compressed_text, text), OPERATOR 3 = (compressed_text, text), OPERATOR 4 ~>=~ (compressed_text, text), OPERATOR 5 ~>~ (compressed_text, text),
    FUNCTION 1 (compressed_text, text) compressed_text_text_pattern_cmp(compressed_text, text),
    OPERATOR 1 ~<~ (text, compressed_text), OPERATOR 2 ~<=~ (text, compressed_text), OPERATOR 3 = (text, compressed_text), OPERATOR 4 ~>=~ (text, compressed_text), OPERATOR 5 ~>~ (text, compressed_text),
    FUNCTION 1 (text, compressed_text) text_compressed_text_pattern_cmp(text, compressed_text),
    OPERATOR 1 pg_catalog.~<~ (text, text), OPERATOR 2 pg_catalog.~<=~ (text, text), OPERATOR 3 pg_catalog.= (text, text), OPERATOR 4 pg_catalog.~>=~ (text, text), OPERATOR 5 pg_catalog.~>~ (text, text),
    FUNCTION 1 (text, text) pg_catalog.bttext_pattern_cmp(text, text);

-- compressed_bytea

CREATE TYPE compressed_bytea;
CREATE FUNCTION compressed_bytea_in(cstring, oid, integer) RETURNS compressed_bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_out(compressed_bytea) RETURNS cstring
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_recv(internal, oid, integer) RETURNS compressed_bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_send(compressed_bytea) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE TYPE compressed_bytea (
    INPUT = compressed_bytea_in, OUTPUT = compressed_bytea_out, RECEIVE = compressed_bytea_recv, SEND = compressed_bytea_send,
    TYPMOD_IN = compression_typmod_in, TYPMOD_OUT = compression_typmod_out,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external, CATEGORY = 'U');
CREATE FUNCTION compressed_bytea(bytea, integer, boolean) RETURNS compressed_bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 50 AS 'MODULE_PATHNAME', 'compressed_bytea_from_bytea';
CREATE FUNCTION bytea(compressed_bytea) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_bytea_to_bytea';
CREATE FUNCTION compressed_bytea(compressed_bytea, integer, boolean) RETURNS compressed_bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 50 SUPPORT compression_coerce_support AS 'MODULE_PATHNAME', 'compressed_bytes_coerce';
CREATE CAST (bytea AS compressed_bytea) WITH FUNCTION compressed_bytea(bytea, integer, boolean) AS ASSIGNMENT;
CREATE CAST (compressed_bytea AS bytea) WITH FUNCTION bytea(compressed_bytea) AS IMPLICIT;
CREATE CAST (compressed_bytea AS compressed_bytea) WITH FUNCTION compressed_bytea(compressed_bytea, integer, boolean) AS IMPLICIT;
CREATE FUNCTION compression_info(value compressed_bytea, OUT format_version integer, OUT method text,
    OUT level integer, OUT dictionary bigint, OUT raw_bytes integer, OUT stored_bytes integer, OUT blocks integer) RETURNS record
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE FUNCTION compressed_bytea_eq(compressed_bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_ne(compressed_bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_lt(compressed_bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_le(compressed_bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_gt(compressed_bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_ge(compressed_bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_cmp(compressed_bytea, compressed_bytea) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_bytea_eq(compressed_bytea, bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_bytea_ne(compressed_bytea, bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_bytea_lt(compressed_bytea, bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_bytea_le(compressed_bytea, bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_bytea_gt(compressed_bytea, bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_bytea_ge(compressed_bytea, bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_bytea_bytea_cmp(compressed_bytea, bytea) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION bytea_compressed_bytea_eq(bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION bytea_compressed_bytea_ne(bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION bytea_compressed_bytea_lt(bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION bytea_compressed_bytea_le(bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION bytea_compressed_bytea_gt(bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION bytea_compressed_bytea_ge(bytea, compressed_bytea) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION bytea_compressed_bytea_cmp(bytea, compressed_bytea) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR = (FUNCTION = compressed_bytea_eq, LEFTARG = compressed_bytea, RIGHTARG = compressed_bytea, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = compressed_bytea_ne, LEFTARG = compressed_bytea, RIGHTARG = compressed_bytea, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = compressed_bytea_lt, LEFTARG = compressed_bytea, RIGHTARG = compressed_bytea, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = compressed_bytea_le, LEFTARG = compressed_bytea, RIGHTARG = compressed_bytea, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = compressed_bytea_gt, LEFTARG = compressed_bytea, RIGHTARG = compressed_bytea, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = compressed_bytea_ge, LEFTARG = compressed_bytea, RIGHTARG = compressed_bytea, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR = (FUNCTION = compressed_bytea_bytea_eq, LEFTARG = compressed_bytea, RIGHTARG = bytea, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = compressed_bytea_bytea_ne, LEFTARG = compressed_bytea, RIGHTARG = bytea, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = compressed_bytea_bytea_lt, LEFTARG = compressed_bytea, RIGHTARG = bytea, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = compressed_bytea_bytea_le, LEFTARG = compressed_bytea, RIGHTARG = bytea, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = compressed_bytea_bytea_gt, LEFTARG = compressed_bytea, RIGHTARG = bytea, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = compressed_bytea_bytea_ge, LEFTARG = compressed_bytea, RIGHTARG = bytea, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR = (FUNCTION = bytea_compressed_bytea_eq, LEFTARG = bytea, RIGHTARG = compressed_bytea, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = bytea_compressed_bytea_ne, LEFTARG = bytea, RIGHTARG = compressed_bytea, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = bytea_compressed_bytea_lt, LEFTARG = bytea, RIGHTARG = compressed_bytea, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = bytea_compressed_bytea_le, LEFTARG = bytea, RIGHTARG = compressed_bytea, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = bytea_compressed_bytea_gt, LEFTARG = bytea, RIGHTARG = compressed_bytea, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = bytea_compressed_bytea_ge, LEFTARG = bytea, RIGHTARG = compressed_bytea, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE FUNCTION compressed_bytea_hash(compressed_bytea) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_hash';
CREATE FUNCTION compressed_bytea_hash_extended(compressed_bytea, bigint) RETURNS bigint
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_hash_extended';
CREATE FUNCTION compressed_bytea_hash(bytea) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'plain_hash';
CREATE FUNCTION compressed_bytea_hash_extended(bytea, bigint) RETURNS bigint
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'plain_hash_extended';

CREATE OPERATOR FAMILY compressed_bytea_ops USING btree;
CREATE OPERATOR CLASS compressed_bytea_ops DEFAULT FOR TYPE compressed_bytea USING btree FAMILY compressed_bytea_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 compressed_bytea_cmp(compressed_bytea, compressed_bytea);
ALTER OPERATOR FAMILY compressed_bytea_ops USING btree ADD
    OPERATOR 1 < (compressed_bytea, bytea), OPERATOR 2 <= (compressed_bytea, bytea), OPERATOR 3 = (compressed_bytea, bytea), OPERATOR 4 >= (compressed_bytea, bytea), OPERATOR 5 > (compressed_bytea, bytea),
    FUNCTION 1 (compressed_bytea, bytea) compressed_bytea_bytea_cmp(compressed_bytea, bytea),
    OPERATOR 1 < (bytea, compressed_bytea), OPERATOR 2 <= (bytea, compressed_bytea), OPERATOR 3 = (bytea, compressed_bytea), OPERATOR 4 >= (bytea, compressed_bytea), OPERATOR 5 > (bytea, compressed_bytea),
    FUNCTION 1 (bytea, compressed_bytea) bytea_compressed_bytea_cmp(bytea, compressed_bytea),
    OPERATOR 1 pg_catalog.< (bytea, bytea), OPERATOR 2 pg_catalog.<= (bytea, bytea), OPERATOR 3 pg_catalog.= (bytea, bytea), OPERATOR 4 pg_catalog.>= (bytea, bytea), OPERATOR 5 pg_catalog.> (bytea, bytea),
    FUNCTION 1 (bytea, bytea) pg_catalog.byteacmp(bytea, bytea);
CREATE OPERATOR FAMILY compressed_bytea_ops USING hash;
CREATE OPERATOR CLASS compressed_bytea_ops DEFAULT FOR TYPE compressed_bytea USING hash FAMILY compressed_bytea_ops AS
    OPERATOR 1 =,
    FUNCTION 1 compressed_bytea_hash(compressed_bytea), FUNCTION 2 compressed_bytea_hash_extended(compressed_bytea, bigint);
ALTER OPERATOR FAMILY compressed_bytea_ops USING hash ADD
    OPERATOR 1 = (compressed_bytea, bytea), OPERATOR 1 = (bytea, compressed_bytea), OPERATOR 1 pg_catalog.= (bytea, bytea),
    FUNCTION 1 (bytea, bytea) compressed_bytea_hash(bytea),
    FUNCTION 2 (bytea, bytea) compressed_bytea_hash_extended(bytea, bigint);

CREATE FUNCTION octet_length(compressed_bytea) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'compressed_octet_length';
CREATE FUNCTION length(compressed_bytea) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'compressed_octet_length';
CREATE FUNCTION "substring"(compressed_bytea, integer, integer) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_bytea_substring';
CREATE FUNCTION "substring"(compressed_bytea, integer) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_bytea_substring';
CREATE FUNCTION substr(compressed_bytea, integer, integer) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_bytea_substring';
CREATE FUNCTION substr(compressed_bytea, integer) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME', 'compressed_bytea_substring';
CREATE FUNCTION compressed_bytea_concat(compressed_bytea, compressed_bytea) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR || (FUNCTION = compressed_bytea_concat, LEFTARG = compressed_bytea, RIGHTARG = compressed_bytea);

-- compressed_jsonb

CREATE TYPE compressed_jsonb;
CREATE FUNCTION compressed_jsonb_in(cstring, oid, integer) RETURNS compressed_jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_out(compressed_jsonb) RETURNS cstring
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_recv(internal, oid, integer) RETURNS compressed_jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_send(compressed_jsonb) RETURNS bytea
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_subscript_handler(internal) RETURNS internal
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE TYPE compressed_jsonb (
    INPUT = compressed_jsonb_in, OUTPUT = compressed_jsonb_out, RECEIVE = compressed_jsonb_recv, SEND = compressed_jsonb_send,
    TYPMOD_IN = compression_typmod_in, TYPMOD_OUT = compression_typmod_out,
    SUBSCRIPT = compressed_jsonb_subscript_handler,
    INTERNALLENGTH = VARIABLE, ALIGNMENT = int4, STORAGE = external, CATEGORY = 'U');
CREATE FUNCTION compressed_jsonb(jsonb, integer, boolean) RETURNS compressed_jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 50 AS 'MODULE_PATHNAME', 'compressed_jsonb_from_jsonb';
CREATE FUNCTION jsonb(compressed_jsonb) RETURNS jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_jsonb';
CREATE FUNCTION compressed_jsonb(compressed_jsonb, integer, boolean) RETURNS compressed_jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 50 SUPPORT compression_coerce_support AS 'MODULE_PATHNAME', 'compressed_bytes_coerce';
CREATE CAST (jsonb AS compressed_jsonb) WITH FUNCTION compressed_jsonb(jsonb, integer, boolean) AS ASSIGNMENT;
CREATE CAST (compressed_jsonb AS jsonb) WITH FUNCTION jsonb(compressed_jsonb) AS IMPLICIT;
CREATE CAST (compressed_jsonb AS compressed_jsonb) WITH FUNCTION compressed_jsonb(compressed_jsonb, integer, boolean) AS IMPLICIT;
-- The casts that jsonb has
CREATE FUNCTION "json"(compressed_jsonb) RETURNS json
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_json';
CREATE CAST (compressed_jsonb AS json) WITH FUNCTION "json"(compressed_jsonb) AS ASSIGNMENT;
CREATE FUNCTION bool(compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_bool';
CREATE CAST (compressed_jsonb AS boolean) WITH FUNCTION bool(compressed_jsonb);
CREATE FUNCTION "numeric"(compressed_jsonb) RETURNS numeric
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_numeric';
CREATE CAST (compressed_jsonb AS numeric) WITH FUNCTION "numeric"(compressed_jsonb);
CREATE FUNCTION int2(compressed_jsonb) RETURNS smallint
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_int2';
CREATE CAST (compressed_jsonb AS smallint) WITH FUNCTION int2(compressed_jsonb);
CREATE FUNCTION int4(compressed_jsonb) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_int4';
CREATE CAST (compressed_jsonb AS integer) WITH FUNCTION int4(compressed_jsonb);
CREATE FUNCTION int8(compressed_jsonb) RETURNS bigint
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_int8';
CREATE CAST (compressed_jsonb AS bigint) WITH FUNCTION int8(compressed_jsonb);
CREATE FUNCTION float4(compressed_jsonb) RETURNS real
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_float4';
CREATE CAST (compressed_jsonb AS real) WITH FUNCTION float4(compressed_jsonb);
CREATE FUNCTION float8(compressed_jsonb) RETURNS double precision
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_to_float8';
CREATE CAST (compressed_jsonb AS double precision) WITH FUNCTION float8(compressed_jsonb);
CREATE FUNCTION compression_info(value compressed_jsonb, OUT format_version integer, OUT method text,
    OUT level integer, OUT dictionary bigint, OUT raw_bytes integer, OUT stored_bytes integer, OUT blocks integer) RETURNS record
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';

CREATE FUNCTION compressed_jsonb_eq(compressed_jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_ne(compressed_jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_lt(compressed_jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_le(compressed_jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_gt(compressed_jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_ge(compressed_jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_cmp(compressed_jsonb, compressed_jsonb) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_jsonb_eq(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_jsonb_ne(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_jsonb_lt(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_jsonb_le(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_jsonb_gt(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_jsonb_ge(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_jsonb_cmp(compressed_jsonb, jsonb) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION jsonb_compressed_jsonb_eq(jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION jsonb_compressed_jsonb_ne(jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION jsonb_compressed_jsonb_lt(jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION jsonb_compressed_jsonb_le(jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION jsonb_compressed_jsonb_gt(jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION jsonb_compressed_jsonb_ge(jsonb, compressed_jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE FUNCTION jsonb_compressed_jsonb_cmp(jsonb, compressed_jsonb) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR = (FUNCTION = compressed_jsonb_eq, LEFTARG = compressed_jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = compressed_jsonb_ne, LEFTARG = compressed_jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = compressed_jsonb_lt, LEFTARG = compressed_jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = compressed_jsonb_le, LEFTARG = compressed_jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = compressed_jsonb_gt, LEFTARG = compressed_jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = compressed_jsonb_ge, LEFTARG = compressed_jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR = (FUNCTION = compressed_jsonb_jsonb_eq, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = compressed_jsonb_jsonb_ne, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = compressed_jsonb_jsonb_lt, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = compressed_jsonb_jsonb_le, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = compressed_jsonb_jsonb_gt, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = compressed_jsonb_jsonb_ge, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE OPERATOR = (FUNCTION = jsonb_compressed_jsonb_eq, LEFTARG = jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (FUNCTION = jsonb_compressed_jsonb_ne, LEFTARG = jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (FUNCTION = jsonb_compressed_jsonb_lt, LEFTARG = jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (FUNCTION = jsonb_compressed_jsonb_le, LEFTARG = jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (FUNCTION = jsonb_compressed_jsonb_gt, LEFTARG = jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (FUNCTION = jsonb_compressed_jsonb_ge, LEFTARG = jsonb, RIGHTARG = compressed_jsonb, COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
CREATE FUNCTION compressed_jsonb_hash(compressed_jsonb) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME';
CREATE FUNCTION compressed_jsonb_hash_extended(compressed_jsonb, bigint) RETURNS bigint
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 5 AS 'MODULE_PATHNAME';

CREATE OPERATOR FAMILY compressed_jsonb_ops USING btree;
CREATE OPERATOR CLASS compressed_jsonb_ops DEFAULT FOR TYPE compressed_jsonb USING btree FAMILY compressed_jsonb_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 compressed_jsonb_cmp(compressed_jsonb, compressed_jsonb);
ALTER OPERATOR FAMILY compressed_jsonb_ops USING btree ADD
    OPERATOR 1 < (compressed_jsonb, jsonb), OPERATOR 2 <= (compressed_jsonb, jsonb), OPERATOR 3 = (compressed_jsonb, jsonb), OPERATOR 4 >= (compressed_jsonb, jsonb), OPERATOR 5 > (compressed_jsonb, jsonb),
    FUNCTION 1 (compressed_jsonb, jsonb) compressed_jsonb_jsonb_cmp(compressed_jsonb, jsonb),
    OPERATOR 1 < (jsonb, compressed_jsonb), OPERATOR 2 <= (jsonb, compressed_jsonb), OPERATOR 3 = (jsonb, compressed_jsonb), OPERATOR 4 >= (jsonb, compressed_jsonb), OPERATOR 5 > (jsonb, compressed_jsonb),
    FUNCTION 1 (jsonb, compressed_jsonb) jsonb_compressed_jsonb_cmp(jsonb, compressed_jsonb),
    OPERATOR 1 pg_catalog.< (jsonb, jsonb), OPERATOR 2 pg_catalog.<= (jsonb, jsonb), OPERATOR 3 pg_catalog.= (jsonb, jsonb), OPERATOR 4 pg_catalog.>= (jsonb, jsonb), OPERATOR 5 pg_catalog.> (jsonb, jsonb),
    FUNCTION 1 (jsonb, jsonb) pg_catalog.jsonb_cmp(jsonb, jsonb);
CREATE OPERATOR FAMILY compressed_jsonb_ops USING hash;
CREATE OPERATOR CLASS compressed_jsonb_ops DEFAULT FOR TYPE compressed_jsonb USING hash FAMILY compressed_jsonb_ops AS
    OPERATOR 1 =,
    FUNCTION 1 compressed_jsonb_hash(compressed_jsonb), FUNCTION 2 compressed_jsonb_hash_extended(compressed_jsonb, bigint);
ALTER OPERATOR FAMILY compressed_jsonb_ops USING hash ADD
    OPERATOR 1 = (compressed_jsonb, jsonb), OPERATOR 1 = (jsonb, compressed_jsonb), OPERATOR 1 pg_catalog.= (jsonb, jsonb),
    FUNCTION 1 (jsonb, jsonb) pg_catalog.jsonb_hash(jsonb),
    FUNCTION 2 (jsonb, jsonb) pg_catalog.jsonb_hash_extended(jsonb, bigint);

CREATE FUNCTION octet_length(compressed_jsonb) RETURNS integer
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'compressed_octet_length';

CREATE FUNCTION compressed_jsonb_concat(compressed_jsonb, compressed_jsonb) RETURNS jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR || (FUNCTION = compressed_jsonb_concat, LEFTARG = compressed_jsonb, RIGHTARG = compressed_jsonb);
CREATE FUNCTION compressed_jsonb_object_field(compressed_jsonb, text) RETURNS jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR -> (FUNCTION = compressed_jsonb_object_field, LEFTARG = compressed_jsonb, RIGHTARG = text);
CREATE FUNCTION compressed_jsonb_object_field_text(compressed_jsonb, text) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ->> (FUNCTION = compressed_jsonb_object_field_text, LEFTARG = compressed_jsonb, RIGHTARG = text);
CREATE FUNCTION compressed_jsonb_array_element(compressed_jsonb, integer) RETURNS jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR -> (FUNCTION = compressed_jsonb_array_element, LEFTARG = compressed_jsonb, RIGHTARG = integer);
CREATE FUNCTION compressed_jsonb_array_element_text(compressed_jsonb, integer) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ->> (FUNCTION = compressed_jsonb_array_element_text, LEFTARG = compressed_jsonb, RIGHTARG = integer);
CREATE FUNCTION compressed_jsonb_extract_path(compressed_jsonb, text[]) RETURNS jsonb
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR #> (FUNCTION = compressed_jsonb_extract_path, LEFTARG = compressed_jsonb, RIGHTARG = text[]);
CREATE FUNCTION compressed_jsonb_extract_path_text(compressed_jsonb, text[]) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR #>> (FUNCTION = compressed_jsonb_extract_path_text, LEFTARG = compressed_jsonb, RIGHTARG = text[]);
CREATE FUNCTION compressed_jsonb_contains(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR @> (FUNCTION = compressed_jsonb_contains, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_jsonb_contained(compressed_jsonb, jsonb) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR <@ (FUNCTION = compressed_jsonb_contained, LEFTARG = compressed_jsonb, RIGHTARG = jsonb, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_jsonb_exists(compressed_jsonb, text) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ? (FUNCTION = compressed_jsonb_exists, LEFTARG = compressed_jsonb, RIGHTARG = text, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_jsonb_exists_any(compressed_jsonb, text[]) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ?| (FUNCTION = compressed_jsonb_exists_any, LEFTARG = compressed_jsonb, RIGHTARG = text[], RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_jsonb_exists_all(compressed_jsonb, text[]) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR ?& (FUNCTION = compressed_jsonb_exists_all, LEFTARG = compressed_jsonb, RIGHTARG = text[], RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_jsonb_path_exists(compressed_jsonb, jsonpath) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR @? (FUNCTION = compressed_jsonb_path_exists, LEFTARG = compressed_jsonb, RIGHTARG = jsonpath, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION compressed_jsonb_path_match(compressed_jsonb, jsonpath) RETURNS boolean
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME';
CREATE OPERATOR @@ (FUNCTION = compressed_jsonb_path_match, LEFTARG = compressed_jsonb, RIGHTARG = jsonpath, RESTRICT = matchingsel, JOIN = matchingjoinsel);
CREATE FUNCTION jsonb_typeof(compressed_jsonb) RETURNS text
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'compressed_jsonb_typeof';
CREATE FUNCTION gin_extract_compressed_jsonb(compressed_jsonb, internal, internal) RETURNS internal
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE FUNCTION gin_extract_compressed_jsonb_path(compressed_jsonb, internal, internal) RETURNS internal
    LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME';
CREATE OPERATOR CLASS compressed_jsonb_ops DEFAULT FOR TYPE compressed_jsonb USING gin AS
    OPERATOR 7 @> (compressed_jsonb, jsonb),
    OPERATOR 9 ? (compressed_jsonb, text),
    OPERATOR 10 ?| (compressed_jsonb, text[]),
    OPERATOR 11 ?& (compressed_jsonb, text[]),
    OPERATOR 15 @? (compressed_jsonb, jsonpath),
    OPERATOR 16 @@ (compressed_jsonb, jsonpath),
    FUNCTION 1 pg_catalog.gin_compare_jsonb(text, text),
    FUNCTION 2 gin_extract_compressed_jsonb(compressed_jsonb, internal, internal),
    FUNCTION 3 pg_catalog.gin_extract_jsonb_query(jsonb, internal, int2, internal, internal, internal, internal),
    FUNCTION 4 pg_catalog.gin_consistent_jsonb(internal, int2, jsonb, int4, internal, internal, internal, internal),
    FUNCTION 6 pg_catalog.gin_triconsistent_jsonb(internal, int2, jsonb, int4, internal, internal, internal),
    STORAGE text;
CREATE OPERATOR CLASS compressed_jsonb_path_ops FOR TYPE compressed_jsonb USING gin AS
    OPERATOR 7 @> (compressed_jsonb, jsonb),
    OPERATOR 15 @? (compressed_jsonb, jsonpath),
    OPERATOR 16 @@ (compressed_jsonb, jsonpath),
    FUNCTION 1 pg_catalog.btint4cmp(integer, integer),
    FUNCTION 2 gin_extract_compressed_jsonb_path(compressed_jsonb, internal, internal),
    FUNCTION 3 pg_catalog.gin_extract_jsonb_query_path(jsonb, internal, int2, internal, internal, internal, internal),
    FUNCTION 4 pg_catalog.gin_consistent_jsonb_path(internal, int2, jsonb, int4, internal, internal, internal, internal),
    FUNCTION 6 pg_catalog.gin_triconsistent_jsonb_path(internal, int2, jsonb, int4, internal, internal, internal),
    STORAGE integer;


-- Dictionaries: see train.c

CREATE FUNCTION guard_dictionaries() RETURNS trigger LANGUAGE C AS 'MODULE_PATHNAME';
REVOKE ALL ON FUNCTION guard_dictionaries() FROM PUBLIC;
CREATE TRIGGER guard_rows BEFORE INSERT OR UPDATE OR DELETE ON compression_dictionaries
    FOR EACH ROW EXECUTE FUNCTION guard_dictionaries();
CREATE TRIGGER guard_table BEFORE TRUNCATE ON compression_dictionaries
    FOR EACH STATEMENT EXECUTE FUNCTION guard_dictionaries();
ALTER TABLE compression_dictionaries ENABLE ALWAYS TRIGGER guard_rows, ENABLE ALWAYS TRIGGER guard_table;

CREATE FUNCTION train_dictionary(relation regclass, column_name name, size integer DEFAULT 16384,
    name text DEFAULT NULL) RETURNS text
    LANGUAGE C VOLATILE AS 'MODULE_PATHNAME';

-- Dropping dictionaries: see drop.c. All of this is for superusers.
CREATE FUNCTION stored_with_dictionary(value "any", dictionary bigint) RETURNS boolean
    LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME';

-- The types whose values can hold a compressed one
CREATE FUNCTION compressed_holders() RETURNS oid[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
WITH RECURSIVE holders (type) AS (
    SELECT unnest(ARRAY['@extschema@.compressed_text'::regtype::oid, '@extschema@.compressed_jsonb'::regtype::oid,
                        '@extschema@.compressed_bytea'::regtype::oid])
    UNION
    SELECT n.type FROM holders h, LATERAL (
        SELECT t.typarray FROM pg_type t WHERE t.oid = h.type
        UNION ALL SELECT t.oid FROM pg_type t WHERE t.typbasetype = h.type
        UNION ALL SELECT r.rngtypid FROM pg_range r WHERE r.rngsubtype = h.type
        UNION ALL SELECT r.rngmultitypid FROM pg_range r WHERE r.rngtypid = h.type
        UNION ALL SELECT c.reltype FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE a.atttypid = h.type AND NOT a.attisdropped) n (type)
    WHERE n.type <> 0)
SELECT array_agg(type) FROM holders
$$;

-- Where values that need it can be, and columns whose new values would
CREATE FUNCTION dictionary_uses(dictionary text) RETURNS SETOF text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    holders oid[] := @extschema@.compressed_holders();
    wanted record;
    place record;
    bytes integer[];
    is_used boolean;
BEGIN
    SELECT d.id, d.number INTO wanted FROM @extschema@.compression_dictionaries d WHERE d.name = dictionary COLLATE "C";
    IF NOT FOUND THEN
        RAISE EXCEPTION 'compression dictionary "%" does not exist', dictionary USING ERRCODE = '42704';
    END IF;
    RETURN QUERY SELECT format('type of column %I of %s', a.attname, a.attrelid::regclass)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.atttypid = ANY (holders) AND a.atttypmod >> 18 = wanted.number AND a.atttypmod >= 0
          AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'm', 'f', 'c');
    RETURN QUERY SELECT format('domain %s', t.oid::regtype) FROM pg_type t
        WHERE t.typbasetype = ANY (holders) AND t.typtypmod >> 18 = wanted.number AND t.typtypmod >= 0;
    -- every row that can be seen; temporary tables of sessions that are gone cannot
    FOR place IN
        SELECT a.attrelid::regclass AS relation, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.atttypid = ANY (holders) AND NOT a.attisdropped AND c.relkind IN ('r', 'm')
          AND c.relispopulated AND NOT pg_is_other_temp_schema(c.relnamespace)
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM ONLY %s t WHERE @extschema@.stored_with_dictionary(t.%I, $1))',
                       place.relation, place.attname) INTO is_used USING wanted.id;
        IF is_used THEN
            RETURN NEXT format('values in column %I of %s', place.attname, place.relation);
        END IF;
    END LOOP;
    RETURN QUERY SELECT format('statistics of %s (ANALYZE makes new ones)', s.starelid::regclass) FROM pg_statistic s
        WHERE @extschema@.stored_with_dictionary(s.stavalues1, wanted.id)
           OR @extschema@.stored_with_dictionary(s.stavalues2, wanted.id)
           OR @extschema@.stored_with_dictionary(s.stavalues3, wanted.id)
           OR @extschema@.stored_with_dictionary(s.stavalues4, wanted.id)
           OR @extschema@.stored_with_dictionary(s.stavalues5, wanted.id);
    -- lists of most common combinations are bytes that only the server can read
    RETURN QUERY SELECT DISTINCT format('statistics object %I.%I', e.stxnamespace::regnamespace, e.stxname)
        FROM pg_statistic_ext e JOIN pg_statistic_ext_data d ON d.stxoid = e.oid
        WHERE @extschema@.stored_with_dictionary(d.stxdexpr, wanted.id)
           OR (d.stxdmcv IS NOT NULL AND
               (e.stxexprs IS NOT NULL OR
                EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = e.stxrelid AND a.attnum = ANY (e.stxkeys)
                          AND a.atttypid = ANY (holders))));
    -- Constants of stored expressions and partition bounds are printed byte by byte, signed or not
    SELECT array_agg((wanted.id >> 8 * i & 255)::integer ORDER BY i) INTO bytes FROM generate_series(0, 3) i;
    FOR place IN
        SELECT a.attrelid::regclass AS catalog, a.attname FROM pg_attribute a
        WHERE a.atttypid = 'pg_node_tree'::regtype AND a.attrelid < 16384
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s c WHERE position($1 IN c.%2$I::text) > 0 OR position($2 IN c.%2$I::text) > 0)',
                       place.catalog, place.attname) INTO is_used
            USING ' ' || array_to_string(bytes, ' ') || ' ',
                ' ' || (SELECT string_agg((b - CASE WHEN b > 127 THEN 256 ELSE 0 END)::text, ' ' ORDER BY n)
                        FROM unnest(bytes) WITH ORDINALITY u (b, n)) || ' ';
        IF is_used THEN
            RETURN NEXT format('a stored expression in %s', place.catalog);
        END IF;
    END LOOP;
END
$$;

CREATE FUNCTION prove_dictionary_unused(dictionary text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    holders oid[] := @extschema@.compressed_holders();
    uses text[];
    stale regclass;
BEGIN
    IF EXISTS (SELECT FROM pg_cursors c WHERE c.is_holdable) THEN
        RAISE EXCEPTION 'this session has open cursors' USING ERRCODE = '55006',
            DETAIL = 'They may hold values that need the dictionary.';
    END IF;
    SELECT array_agg(u) INTO uses FROM @extschema@.dictionary_uses(dictionary) u;
    IF cardinality(uses) > 0 THEN
        RAISE EXCEPTION 'compression dictionary "%" is in use', dictionary USING ERRCODE = '2BP01',
            DETAIL = array_to_string(uses[:10], E'\n'), HINT = 'dictionary_uses() lists all uses.';
    END IF;
    -- the row is kept for logical decoding of what was written before, but VACUUM takes its content out of line
    IF EXISTS (SELECT FROM pg_replication_slots s
               WHERE s.database = current_database() AND s.confirmed_flush_lsn < pg_current_wal_insert_lsn()) THEN
        RAISE EXCEPTION 'logical replication slots have changes to decode' USING ERRCODE = '55006',
            DETAIL = 'They may have values that need the dictionary.', HINT = 'Let them catch up with all that was written.';
    END IF;
    -- pages above the leaves keep keys of rows that are gone
    FOR stale IN
        SELECT DISTINCT c.oid::regclass FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.atttypid = ANY (holders) AND c.relkind = 'i'
          AND NOT pg_is_other_temp_schema(c.relnamespace)
    LOOP
        EXECUTE format('REINDEX INDEX %s', stale);
    END LOOP;
END
$$;

CREATE FUNCTION delete_dictionary(dictionary text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS
$$DELETE FROM @extschema@.compression_dictionaries d WHERE d.name = dictionary COLLATE "C"$$;

CREATE PROCEDURE drop_dictionary(name text) LANGUAGE C AS 'MODULE_PATHNAME';
REVOKE ALL ON FUNCTION stored_with_dictionary("any", bigint), compressed_holders(), dictionary_uses(text),
    prove_dictionary_unused(text), delete_dictionary(text) FROM PUBLIC;
REVOKE ALL ON PROCEDURE drop_dictionary(text) FROM PUBLIC;

CREATE FUNCTION compression_advice(relation regclass, column_name name, sample_rows integer DEFAULT 2000,
    OUT method text, OUT level integer, OUT dictionary_bytes integer, OUT ratio double precision,
    OUT compress_us double precision, OUT decompress_us double precision, OUT ddl text)
    RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE ROWS 40 COST 1000000 AS 'MODULE_PATHNAME';


-- recompress(): see recompress.c

CREATE FUNCTION recompressed(compressed_text, typmod integer, force boolean) RETURNS compressed_text
    LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME', 'recompressed_text';
CREATE FUNCTION recompressed(compressed_jsonb, typmod integer, force boolean) RETURNS compressed_jsonb
    LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME', 'recompressed_bytes';
CREATE FUNCTION recompressed(compressed_bytea, typmod integer, force boolean) RETURNS compressed_bytea
    LANGUAGE C STRICT STABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME', 'recompressed_bytes';

-- One row per column that recompress() works on, or was interrupted in.
CREATE TABLE recompressions (
    relation regclass,
    attnum smallint,
    typmod integer NOT NULL,
    pass integer NOT NULL,
    blocks_done bigint NOT NULL,
    blocks_total bigint NOT NULL,
    values_rewritten bigint NOT NULL,
    started_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    updated_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (relation, attnum)
);
ALTER TABLE recompressions ENABLE ROW LEVEL SECURITY;
CREATE POLICY who_may_update ON recompressions
    USING (pg_catalog.has_column_privilege(relation::oid, attnum, 'UPDATE'));
GRANT SELECT, INSERT, UPDATE, DELETE ON recompressions TO PUBLIC;

-- One table, not its children. A row that somebody else updates meanwhile may carry its value to a
-- block that was done: hence passes, until one moves nothing. What counts is the value that the row
-- has then: a trigger can keep the old one, in every pass.
-- Operators have operands of exactly their types, which nobody's search_path can replace.
CREATE PROCEDURE recompress_table(relation regclass, column_name name, batch_pages integer, force boolean)
LANGUAGE plpgsql AS $$
DECLARE
    relid oid := relation;
    col record;
    batch text;
    done bigint;
    total bigint;
    pass_number integer;
    rewritten bigint;
    in_pass bigint;
    is_kept boolean := false;
    is_moved boolean;
BEGIN
    SELECT a.attnum, a.atttypmod INTO STRICT col FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = relid AND a.attname = recompress_table.column_name;
    SELECT r.blocks_done, r.pass, r.values_rewritten INTO done, pass_number, rewritten
        FROM @extschema@.recompressions r
        WHERE r.relation::oid = relid AND r.attnum = col.attnum AND r.typmod = col.atttypmod;
    IF NOT FOUND THEN
        done := 0; pass_number := 1; rewritten := 0;
        DELETE FROM @extschema@.recompressions r WHERE r.relation::oid = relid AND r.attnum = col.attnum;
        INSERT INTO @extschema@.recompressions VALUES (relation, col.attnum, col.atttypmod, 1, 0, 0, 0);
    END IF;
    -- The subquery is not flattened, so each value is compressed once. A row that changes between
    -- the two parts does not join.
    batch := pg_catalog.format(
        'UPDATE ONLY %1$s AS t SET %2$I = s.value FROM'
        ' (SELECT ctid, @extschema@.recompressed(%2$I, $3, $4) AS value FROM ONLY %1$s'
        '  WHERE ctid >= $1 AND ctid < $2 OFFSET 0) AS s'
        ' WHERE t.ctid = s.ctid AND t.ctid >= $1 AND t.ctid < $2 AND s.value IS NOT NULL'
        ' RETURNING @extschema@.recompressed(t.%2$I, $3, false) IS NULL',
        relation, column_name);
    LOOP
        total := pg_catalog.pg_relation_size(relation) / pg_catalog.current_setting('block_size')::bigint;
        in_pass := 0;
        WHILE done < total LOOP
            FOR is_moved IN EXECUTE batch USING pg_catalog.format('(%s,0)', done)::pg_catalog.tid,
                pg_catalog.format('(%s,0)', done + batch_pages)::pg_catalog.tid, col.atttypmod, force
            LOOP
                IF is_moved THEN
                    in_pass := in_pass + 1;
                    rewritten := rewritten + 1;
                ELSE
                    is_kept := true;
                END IF;
            END LOOP;
            done := least(done + batch_pages, total);
            UPDATE @extschema@.recompressions r
                SET pass = pass_number, blocks_done = done, blocks_total = total,
                    values_rewritten = rewritten, updated_at = pg_catalog.clock_timestamp()
                WHERE r.relation::oid = relid AND r.attnum = col.attnum;
            COMMIT;
        END LOOP;
        EXIT WHEN in_pass = 0 OR force;
        pass_number := pass_number + 1;
        done := 0;
    END LOOP;
    DELETE FROM @extschema@.recompressions r WHERE r.relation::oid = relid AND r.attnum = col.attnum;
    COMMIT;
    IF is_kept THEN
        RAISE WARNING 'some values of column "%" of table "%" stay as they are', column_name, relation
            USING HINT = 'A trigger of the table gives rows other values than they were updated with.';
    END IF;
    RAISE INFO 'recompressed % values of column "%" of table "%"', rewritten, column_name, relation;
END
$$;

CREATE PROCEDURE recompress(relation regclass, column_name name, batch_pages integer DEFAULT 256,
    force boolean DEFAULT false)
LANGUAGE plpgsql AS $$
DECLARE
    relid oid := relation;
    col record;
    members regclass[];
    member regclass;
BEGIN
    IF batch_pages IS NULL OR batch_pages < 1 THEN
        RAISE EXCEPTION 'number of pages in a batch must be positive' USING ERRCODE = '22023';
    END IF;
    SELECT a.atttypid, a.attgenerated INTO col FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = relid AND a.attname = recompress.column_name AND a.attnum > 0;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', column_name, relation USING ERRCODE = '42703';
    END IF;
    IF col.atttypid NOT IN ('@extschema@.compressed_text'::regtype::oid, '@extschema@.compressed_jsonb'::regtype::oid,
                            '@extschema@.compressed_bytea'::regtype::oid) THEN
        RAISE EXCEPTION 'column "%" of relation "%" is not of a compressed type', column_name, relation
            USING ERRCODE = '42809', HINT = 'ALTER TABLE ... TYPE or SET COMPRESSION changes its type.';
    END IF;
    IF col.attgenerated <> '' THEN
        RAISE EXCEPTION 'cannot recompress generated column "%" of relation "%"', column_name, relation
            USING ERRCODE = '428C9', HINT = 'An UPDATE of a column that it is generated from compresses its values anew.';
    END IF;
    IF NOT pg_catalog.has_column_privilege(relid, column_name, 'UPDATE') THEN
        RAISE EXCEPTION 'permission denied for column "%" of relation "%"', column_name, relation USING ERRCODE = '42501';
    END IF;
    WITH RECURSIVE family AS (
        SELECT relid AS member
        UNION
        SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN family f ON i.inhparent = f.member
    )
    SELECT pg_catalog.array_agg(f.member::regclass ORDER BY f.member) INTO members
        FROM family f JOIN pg_catalog.pg_class c ON c.oid = f.member WHERE c.relkind = 'r';
    FOREACH member IN ARRAY coalesce(members, '{}') LOOP
        CALL @extschema@.recompress_table(member, column_name, batch_pages, force);
    END LOOP;
END
$$;

-- comments; "internal: ..." is nothing to call by hand
COMMENT ON TABLE registered_compression_methods IS 'methods of other extensions; create_compression_method() adds rows';
COMMENT ON TABLE compression_dictionaries IS 'dictionaries that train_dictionary() made; drop_dictionary() removes them';
COMMENT ON VIEW compression_methods IS 'every method, with its levels; null where its library is missing';
COMMENT ON TABLE recompressions IS 'columns that recompress() works on, or was interrupted in';
COMMENT ON FUNCTION create_compression_method(text,text) IS 'in the script of an extension: adds a method and returns its id';
COMMENT ON FUNCTION create_compression_method(text,text,integer) IS 'in the script of an extension: adds a method and returns its id';
COMMENT ON FUNCTION built_in_compression_methods() IS 'internal: what the view compression_methods shows';
COMMENT ON FUNCTION compression_method_options(bigint) IS 'internal: what the view compression_methods shows';
COMMENT ON FUNCTION check_compression_method(text,boolean) IS 'conformance tests of a method, for a test server; longest adds values of 1 GB';
COMMENT ON FUNCTION compression_typmod_in(cstring[]) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compression_typmod_out(integer) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compression_coerce_support(internal) IS 'internal: support of a planner or an index';
COMMENT ON FUNCTION compressed_text_like_support(internal) IS 'internal: support of a planner or an index';
COMMENT ON FUNCTION compressed_text_in(cstring,oid,integer) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_text_out(compressed_text) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_text_recv(internal,oid,integer) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_text_send(compressed_text) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_text(text,integer,boolean) IS 'internal: behind a cast';
COMMENT ON FUNCTION text(compressed_text) IS 'internal: behind a cast';
COMMENT ON FUNCTION compressed_text(compressed_text,integer,boolean) IS 'internal: behind a cast';
COMMENT ON FUNCTION compression_info(compressed_text) IS 'what the header of a value says';
COMMENT ON FUNCTION compressed_text_eq(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_ne(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_lt(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_le(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_gt(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_ge(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_cmp(compressed_text,compressed_text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_text_eq(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_ne(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_lt(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_le(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_gt(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_ge(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_cmp(compressed_text,text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION text_compressed_text_eq(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_ne(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_lt(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_le(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_gt(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_ge(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_cmp(text,compressed_text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_hash(compressed_text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_hash_extended(compressed_text,bigint) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_hash(text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_hash_extended(text,bigint) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_sortsupport(internal) IS 'internal: support of an operator class';
COMMENT ON FUNCTION octet_length(compressed_text) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION length(compressed_text) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION "substring"(compressed_text,integer,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION "substring"(compressed_text,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION "substring"(compressed_text,text) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION "substring"(compressed_text,text,text) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION substr(compressed_text,integer,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION substr(compressed_text,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION char_length(compressed_text) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION character_length(compressed_text) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION "left"(compressed_text,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION starts_with(compressed_text,text) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION compressed_text_concat(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_concat_text(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_concat_compressed_text(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_like(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_notlike(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_ilike(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_notilike(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_regex_eq(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_regex_ne(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_regex_ieq(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_regex_ine(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_starts_with(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_pattern_lt(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_pattern_le(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_pattern_ge(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_pattern_gt(compressed_text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_pattern_cmp(compressed_text,compressed_text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_text_pattern_lt(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_pattern_le(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_pattern_ge(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_pattern_gt(compressed_text,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_text_text_pattern_cmp(compressed_text,text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION text_compressed_text_pattern_lt(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_pattern_le(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_pattern_ge(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_pattern_gt(text,compressed_text) IS 'internal: behind an operator';
COMMENT ON FUNCTION text_compressed_text_pattern_cmp(text,compressed_text) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_text_pattern_sortsupport(internal) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_bytea_in(cstring,oid,integer) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_bytea_out(compressed_bytea) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_bytea_recv(internal,oid,integer) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_bytea_send(compressed_bytea) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_bytea(bytea,integer,boolean) IS 'internal: behind a cast';
COMMENT ON FUNCTION bytea(compressed_bytea) IS 'internal: behind a cast';
COMMENT ON FUNCTION compressed_bytea(compressed_bytea,integer,boolean) IS 'internal: behind a cast';
COMMENT ON FUNCTION compression_info(compressed_bytea) IS 'what the header of a value says';
COMMENT ON FUNCTION compressed_bytea_eq(compressed_bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_ne(compressed_bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_lt(compressed_bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_le(compressed_bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_gt(compressed_bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_ge(compressed_bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_cmp(compressed_bytea,compressed_bytea) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_bytea_bytea_eq(compressed_bytea,bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_bytea_ne(compressed_bytea,bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_bytea_lt(compressed_bytea,bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_bytea_le(compressed_bytea,bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_bytea_gt(compressed_bytea,bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_bytea_ge(compressed_bytea,bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_bytea_bytea_cmp(compressed_bytea,bytea) IS 'internal: support of an operator class';
COMMENT ON FUNCTION bytea_compressed_bytea_eq(bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION bytea_compressed_bytea_ne(bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION bytea_compressed_bytea_lt(bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION bytea_compressed_bytea_le(bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION bytea_compressed_bytea_gt(bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION bytea_compressed_bytea_ge(bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION bytea_compressed_bytea_cmp(bytea,compressed_bytea) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_bytea_hash(compressed_bytea) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_bytea_hash_extended(compressed_bytea,bigint) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_bytea_hash(bytea) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_bytea_hash_extended(bytea,bigint) IS 'internal: support of an operator class';
COMMENT ON FUNCTION octet_length(compressed_bytea) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION length(compressed_bytea) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION "substring"(compressed_bytea,integer,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION "substring"(compressed_bytea,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION substr(compressed_bytea,integer,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION substr(compressed_bytea,integer) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION compressed_bytea_concat(compressed_bytea,compressed_bytea) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_in(cstring,oid,integer) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_jsonb_out(compressed_jsonb) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_jsonb_recv(internal,oid,integer) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_jsonb_send(compressed_jsonb) IS 'internal: input and output of a type';
COMMENT ON FUNCTION compressed_jsonb_subscript_handler(internal) IS 'internal: support of a planner or an index';
COMMENT ON FUNCTION compressed_jsonb(jsonb,integer,boolean) IS 'internal: behind a cast';
COMMENT ON FUNCTION jsonb(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION compressed_jsonb(compressed_jsonb,integer,boolean) IS 'internal: behind a cast';
COMMENT ON FUNCTION "json"(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION bool(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION "numeric"(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION int2(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION int4(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION int8(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION float4(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION float8(compressed_jsonb) IS 'internal: behind a cast';
COMMENT ON FUNCTION compression_info(compressed_jsonb) IS 'what the header of a value says';
COMMENT ON FUNCTION compressed_jsonb_eq(compressed_jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_ne(compressed_jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_lt(compressed_jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_le(compressed_jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_gt(compressed_jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_ge(compressed_jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_cmp(compressed_jsonb,compressed_jsonb) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_jsonb_jsonb_eq(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_jsonb_ne(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_jsonb_lt(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_jsonb_le(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_jsonb_gt(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_jsonb_ge(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_jsonb_cmp(compressed_jsonb,jsonb) IS 'internal: support of an operator class';
COMMENT ON FUNCTION jsonb_compressed_jsonb_eq(jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION jsonb_compressed_jsonb_ne(jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION jsonb_compressed_jsonb_lt(jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION jsonb_compressed_jsonb_le(jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION jsonb_compressed_jsonb_gt(jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION jsonb_compressed_jsonb_ge(jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION jsonb_compressed_jsonb_cmp(jsonb,compressed_jsonb) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_jsonb_hash(compressed_jsonb) IS 'internal: support of an operator class';
COMMENT ON FUNCTION compressed_jsonb_hash_extended(compressed_jsonb,bigint) IS 'internal: support of an operator class';
COMMENT ON FUNCTION octet_length(compressed_jsonb) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION compressed_jsonb_concat(compressed_jsonb,compressed_jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_object_field(compressed_jsonb,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_object_field_text(compressed_jsonb,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_array_element(compressed_jsonb,integer) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_array_element_text(compressed_jsonb,integer) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_extract_path(compressed_jsonb,text[]) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_extract_path_text(compressed_jsonb,text[]) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_contains(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_contained(compressed_jsonb,jsonb) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_exists(compressed_jsonb,text) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_exists_any(compressed_jsonb,text[]) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_exists_all(compressed_jsonb,text[]) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_path_exists(compressed_jsonb,jsonpath) IS 'internal: behind an operator';
COMMENT ON FUNCTION compressed_jsonb_path_match(compressed_jsonb,jsonpath) IS 'internal: behind an operator';
COMMENT ON FUNCTION jsonb_typeof(compressed_jsonb) IS 'as in pg_catalog, on a compressed value';
COMMENT ON FUNCTION gin_extract_compressed_jsonb(compressed_jsonb,internal,internal) IS 'internal: support of an operator class';
COMMENT ON FUNCTION gin_extract_compressed_jsonb_path(compressed_jsonb,internal,internal) IS 'internal: support of an operator class';
COMMENT ON FUNCTION guard_dictionaries() IS 'internal: trigger';
COMMENT ON FUNCTION train_dictionary(regclass,name,integer,text) IS 'trains a dictionary of at most size bytes from a sample of the column, and returns its name';
COMMENT ON FUNCTION stored_with_dictionary("any",bigint) IS 'internal: support of dictionaries and recompression';
COMMENT ON FUNCTION compressed_holders() IS 'internal: support of dictionaries and recompression';
COMMENT ON FUNCTION dictionary_uses(text) IS 'the places that need the dictionary: values, types, statistics, expressions';
COMMENT ON FUNCTION prove_dictionary_unused(text) IS 'internal: support of dictionaries and recompression';
COMMENT ON FUNCTION delete_dictionary(text) IS 'internal: support of dictionaries and recompression';
COMMENT ON PROCEDURE drop_dictionary(text) IS 'removes a dictionary that nothing needs';
COMMENT ON FUNCTION compression_advice(regclass,name,integer) IS 'ratio and time of each method, measured with a sample of the column';
COMMENT ON FUNCTION recompressed(compressed_text,integer,boolean) IS 'internal: support of dictionaries and recompression';
COMMENT ON FUNCTION recompressed(compressed_jsonb,integer,boolean) IS 'internal: support of dictionaries and recompression';
COMMENT ON FUNCTION recompressed(compressed_bytea,integer,boolean) IS 'internal: support of dictionaries and recompression';
COMMENT ON PROCEDURE recompress_table(regclass,name,integer,boolean) IS 'internal: support of dictionaries and recompression';
COMMENT ON PROCEDURE recompress(regclass,name,integer,boolean) IS 'rewrites every value of the column in the method of the column''s type; commits after each batch';
COMMENT ON TYPE compressed_text IS 'a text that is stored compressed';
COMMENT ON TYPE compressed_bytea IS 'a bytea that is stored compressed';
COMMENT ON TYPE compressed_jsonb IS 'a jsonb that is stored compressed';
