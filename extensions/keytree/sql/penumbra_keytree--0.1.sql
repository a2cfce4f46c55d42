\echo Use "CREATE EXTENSION penumbra_keytree" to load this file. \quit

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
CREATE OPERATOR CLASS penumbra_keytree.uuid_ops DEFAULT FOR TYPE uuid USING keytree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS penumbra_keytree.date_ops DEFAULT FOR TYPE date USING keytree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS penumbra_keytree.timestamp_ops DEFAULT FOR TYPE timestamp USING keytree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
CREATE OPERATOR CLASS penumbra_keytree.timestamptz_ops DEFAULT FOR TYPE timestamptz USING keytree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
