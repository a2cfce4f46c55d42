CREATE FUNCTION penumbra_keytree.keytree_handler(internal) RETURNS index_am_handler
LANGUAGE C STRICT AS 'MODULE_PATHNAME';

CREATE ACCESS METHOD keytree TYPE INDEX HANDLER penumbra_keytree.keytree_handler;
COMMENT ON ACCESS METHOD keytree IS 'index access method for integer, uuid and timestamp keys';

CREATE OPERATOR FAMILY penumbra_keytree.integer_ops USING keytree;
CREATE OPERATOR CLASS penumbra_keytree.int2_ops DEFAULT FOR TYPE int2 USING keytree FAMILY penumbra_keytree.integer_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS penumbra_keytree.int4_ops DEFAULT FOR TYPE int4 USING keytree FAMILY penumbra_keytree.integer_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS penumbra_keytree.int8_ops DEFAULT FOR TYPE int8 USING keytree FAMILY penumbra_keytree.integer_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
-- Every pair of integer types, as in btree's family: PostgreSQL 18 merges equivalences (of any tables) only where
-- all operators have the same families.
ALTER OPERATOR FAMILY penumbra_keytree.integer_ops USING keytree ADD
    OPERATOR 1 < (int2, int4), OPERATOR 2 <= (int2, int4), OPERATOR 3 = (int2, int4), OPERATOR 4 >= (int2, int4), OPERATOR 5 > (int2, int4),
    OPERATOR 1 < (int2, int8), OPERATOR 2 <= (int2, int8), OPERATOR 3 = (int2, int8), OPERATOR 4 >= (int2, int8), OPERATOR 5 > (int2, int8),
    OPERATOR 1 < (int4, int2), OPERATOR 2 <= (int4, int2), OPERATOR 3 = (int4, int2), OPERATOR 4 >= (int4, int2), OPERATOR 5 > (int4, int2),
    OPERATOR 1 < (int4, int8), OPERATOR 2 <= (int4, int8), OPERATOR 3 = (int4, int8), OPERATOR 4 >= (int4, int8), OPERATOR 5 > (int4, int8),
    OPERATOR 1 < (int8, int2), OPERATOR 2 <= (int8, int2), OPERATOR 3 = (int8, int2), OPERATOR 4 >= (int8, int2), OPERATOR 5 > (int8, int2),
    OPERATOR 1 < (int8, int4), OPERATOR 2 <= (int8, int4), OPERATOR 3 = (int8, int4), OPERATOR 4 >= (int8, int4), OPERATOR 5 > (int8, int4);
CREATE OPERATOR CLASS penumbra_keytree.uuid_ops DEFAULT FOR TYPE uuid USING keytree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR FAMILY penumbra_keytree.datetime_ops USING keytree;
CREATE OPERATOR CLASS penumbra_keytree.date_ops DEFAULT FOR TYPE date USING keytree FAMILY penumbra_keytree.datetime_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS penumbra_keytree.timestamp_ops DEFAULT FOR TYPE timestamp USING keytree FAMILY penumbra_keytree.datetime_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS penumbra_keytree.timestamptz_ops DEFAULT FOR TYPE timestamptz USING keytree FAMILY penumbra_keytree.datetime_ops AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
ALTER OPERATOR FAMILY penumbra_keytree.datetime_ops USING keytree ADD
    OPERATOR 1 < (date, timestamp), OPERATOR 2 <= (date, timestamp), OPERATOR 3 = (date, timestamp), OPERATOR 4 >= (date, timestamp), OPERATOR 5 > (date, timestamp),
    OPERATOR 1 < (date, timestamptz), OPERATOR 2 <= (date, timestamptz), OPERATOR 3 = (date, timestamptz), OPERATOR 4 >= (date, timestamptz), OPERATOR 5 > (date, timestamptz),
    OPERATOR 1 < (timestamp, date), OPERATOR 2 <= (timestamp, date), OPERATOR 3 = (timestamp, date), OPERATOR 4 >= (timestamp, date), OPERATOR 5 > (timestamp, date),
    OPERATOR 1 < (timestamp, timestamptz), OPERATOR 2 <= (timestamp, timestamptz), OPERATOR 3 = (timestamp, timestamptz), OPERATOR 4 >= (timestamp, timestamptz), OPERATOR 5 > (timestamp, timestamptz),
    OPERATOR 1 < (timestamptz, date), OPERATOR 2 <= (timestamptz, date), OPERATOR 3 = (timestamptz, date), OPERATOR 4 >= (timestamptz, date), OPERATOR 5 > (timestamptz, date),
    OPERATOR 1 < (timestamptz, timestamp), OPERATOR 2 <= (timestamptz, timestamp), OPERATOR 3 = (timestamptz, timestamp), OPERATOR 4 >= (timestamptz, timestamp), OPERATOR 5 > (timestamptz, timestamp);

CREATE FUNCTION penumbra_keytree.keytree_check(index regclass) RETURNS void
LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION penumbra_keytree.keytree_check(regclass) IS 'proves every invariant of the index, and that it agrees with its table';

CREATE FUNCTION penumbra_keytree.keytree_page(index regclass, block bigint,
    OUT entry integer, OUT key text, OUT tid tid, OUT child bigint, OUT dead boolean) RETURNS SETOF record
LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION penumbra_keytree.keytree_page(regclass, bigint) IS 'entries of a page';

CREATE FUNCTION penumbra_keytree.keytree_page_header(index regclass, block bigint,
    OUT level integer, OUT flags text, OUT entries integer, OUT key_bytes integer, OUT tail_bytes integer,
    OUT free_bytes integer, OUT left_page bigint, OUT right_page bigint, OUT low_fence text, OUT high_fence text,
    OUT version bigint) RETURNS record
LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION penumbra_keytree.keytree_page_header(regclass, bigint) IS 'header of a page';

CREATE FUNCTION penumbra_keytree.keytree_stats(index regclass,
    OUT bytes bigint, OUT root_level integer, OUT inner_pages bigint, OUT leaf_pages bigint, OUT free_pages bigint,
    OUT entries bigint, OUT null_entries bigint, OUT dead_entries bigint, OUT leaf_fill_percent double precision) RETURNS record
LANGUAGE C STRICT AS 'MODULE_PATHNAME';
COMMENT ON FUNCTION penumbra_keytree.keytree_stats(regclass) IS 'pages and entries of the index, counted';

CREATE FUNCTION penumbra_keytree.keytree_leaf_reads(
    OUT without_lock bigint, OUT disturbed bigint, OUT with_lock bigint) RETURNS record
LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'keytree_leaf_reads_of_session';
COMMENT ON FUNCTION penumbra_keytree.keytree_leaf_reads() IS 'how scans of this session have read leaves';

-- They read raw pages, and the check locks writers out.
REVOKE EXECUTE ON FUNCTION penumbra_keytree.keytree_check(regclass), penumbra_keytree.keytree_page(regclass, bigint),
    penumbra_keytree.keytree_page_header(regclass, bigint), penumbra_keytree.keytree_stats(regclass) FROM PUBLIC;
-- For keytree_leaf_reads().
GRANT USAGE ON SCHEMA penumbra_keytree TO PUBLIC;

-- comments; "internal: ..." is nothing to call by hand
COMMENT ON FUNCTION @extschema@.keytree_handler(internal) IS 'internal: handler of the access method keytree';
