\echo Use "CREATE EXTENSION penumbra_compress" to load this file. \quit

-- Methods of other extensions, made anew by their scripts: not dumped. Output functions read these
-- tables during logical decoding.
CREATE TABLE methods (
    id bigint PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    library text NOT NULL,
    symbol text NOT NULL,
    extension text NOT NULL
) WITH (user_catalog_table = true);
GRANT SELECT ON methods TO PUBLIC;

CREATE TABLE dictionaries (
    id bigint PRIMARY KEY,
    number bigint NOT NULL UNIQUE,
    name text COLLATE "C" NOT NULL UNIQUE,
    content bytea NOT NULL
) WITH (user_catalog_table = true);
ALTER TABLE dictionaries ALTER COLUMN content SET STORAGE EXTERNAL;
GRANT SELECT ON dictionaries TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('dictionaries', '');

CREATE FUNCTION create_compression_method(name text, handler text) RETURNS integer
    LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME';
CREATE FUNCTION create_compression_method(name text, handler text, id integer) RETURNS integer
    LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME';
CREATE FUNCTION built_in_compression_methods(OUT id integer, OUT name text, OUT min_level integer,
    OUT max_level integer, OUT default_level integer, OUT takes_dictionary boolean)
    RETURNS SETOF record LANGUAGE C STRICT STABLE AS 'MODULE_PATHNAME';
CREATE VIEW compression_methods AS
    SELECT id, name, min_level, max_level, default_level, takes_dictionary, NULL AS extension
    FROM @extschema@.built_in_compression_methods()
    UNION ALL
    SELECT id, name, NULL, NULL, NULL, NULL, extension FROM @extschema@.methods;
GRANT SELECT ON compression_methods TO PUBLIC;

CREATE FUNCTION check_compression_method(method text, OUT "check" text, OUT passed boolean, OUT problem text)
    RETURNS SETOF record LANGUAGE C STRICT VOLATILE AS 'MODULE_PATHNAME';
-- It runs a method on damaged bytes, which may crash a server.
REVOKE ALL ON FUNCTION check_compression_method(text) FROM PUBLIC;

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
    OUT dictionary bigint, OUT raw_bytes integer, OUT stored_bytes integer, OUT blocks integer) RETURNS record
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
    OUT dictionary bigint, OUT raw_bytes integer, OUT stored_bytes integer, OUT blocks integer) RETURNS record
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
CREATE TYPE compressed_jsonb (
    INPUT = compressed_jsonb_in, OUTPUT = compressed_jsonb_out, RECEIVE = compressed_jsonb_recv, SEND = compressed_jsonb_send,
    TYPMOD_IN = compression_typmod_in, TYPMOD_OUT = compression_typmod_out,
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
CREATE FUNCTION compression_info(value compressed_jsonb, OUT format_version integer, OUT method text,
    OUT dictionary bigint, OUT raw_bytes integer, OUT stored_bytes integer, OUT blocks integer) RETURNS record
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
