-- Everything is named with its schema: pg_catalog would come first.
-- Functions have the names and arguments of those in pg_catalog that they stand for: that is how the
-- planner hook finds them.

CREATE FUNCTION numeric_add(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_sub(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_sub' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_mul(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_mul' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_div(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_div' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION mod(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_mod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_mod(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_mod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION div(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_div_trunc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_div_trunc(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_div_trunc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION gcd(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_gcd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lcm(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_lcm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION power(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_power' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pow(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_power' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_power(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_power' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION log(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_log' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_log(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_log' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sqrt(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_sqrt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_sqrt(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_sqrt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION exp(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_exp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_exp(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_exp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ln(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_ln' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_ln(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_ln' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION log(numeric) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN penumbra_numeric.log(10::pg_catalog.numeric, $1);
CREATE FUNCTION log10(numeric) RETURNS numeric
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN penumbra_numeric.log(10::pg_catalog.numeric, $1);
CREATE FUNCTION factorial(bigint) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_factorial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION abs(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_abs' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_abs(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_abs' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_uminus(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_uminus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sign(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_sign' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION round(numeric, integer) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_round' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION round(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_round' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION trunc(numeric, integer) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_trunc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION trunc(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_trunc' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ceil(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_ceil' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION ceiling(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_ceil' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION floor(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_floor' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION scale(numeric) RETURNS integer
	AS 'MODULE_PATHNAME', 'penumbra_numeric_scale' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION min_scale(numeric) RETURNS integer
	AS 'MODULE_PATHNAME', 'penumbra_numeric_min_scale' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION trim_scale(numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_trim_scale' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Comparisons. There are no operators for them: those of pg_catalog are what indexes and joins know.
CREATE FUNCTION numeric_eq(numeric, numeric) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_ne(numeric, numeric) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_lt(numeric, numeric) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_le(numeric, numeric) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_gt(numeric, numeric) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_ge(numeric, numeric) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_cmp(numeric, numeric) RETURNS integer
	AS 'MODULE_PATHNAME', 'penumbra_numeric_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_smaller(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_smaller' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_larger(numeric, numeric) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_larger' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hash_numeric(numeric) RETURNS integer
	AS 'MODULE_PATHNAME', 'penumbra_hash_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION hash_numeric_extended(numeric, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'penumbra_hash_numeric_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Casts
CREATE FUNCTION "numeric"(numeric, integer) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_typmod' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION "numeric"(smallint) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_int2_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION int2(numeric) RETURNS smallint
	AS 'MODULE_PATHNAME', 'penumbra_numeric_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION "numeric"(integer) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_int4_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION int4(numeric) RETURNS integer
	AS 'MODULE_PATHNAME', 'penumbra_numeric_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION "numeric"(bigint) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_int8_numeric' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION int8(numeric) RETURNS bigint
	AS 'MODULE_PATHNAME', 'penumbra_numeric_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION float8(numeric) RETURNS double precision
	AS 'MODULE_PATHNAME', 'penumbra_numeric_float8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Aggregates
CREATE FUNCTION numeric_avg_accum(internal, numeric) RETURNS internal
	AS 'MODULE_PATHNAME', 'penumbra_numeric_avg_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_accum(internal, numeric) RETURNS internal
	AS 'MODULE_PATHNAME', 'penumbra_numeric_accum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_accum_inv(internal, numeric) RETURNS internal
	AS 'MODULE_PATHNAME', 'penumbra_numeric_accum_inv' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_avg_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'penumbra_numeric_avg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'penumbra_numeric_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'penumbra_numeric_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'penumbra_numeric_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION numeric_sum(internal) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_sum' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_avg(internal) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_avg' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_var_samp(internal) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_var_samp' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_var_pop(internal) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_var_pop' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_stddev_samp(internal) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_stddev_samp' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION numeric_stddev_pop(internal) RETURNS numeric
	AS 'MODULE_PATHNAME', 'penumbra_numeric_stddev_pop' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE sum(numeric) (
	SFUNC = penumbra_numeric.numeric_avg_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_sum,
	COMBINEFUNC = penumbra_numeric.numeric_avg_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_avg_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_sum, PARALLEL = SAFE
);
CREATE AGGREGATE avg(numeric) (
	SFUNC = penumbra_numeric.numeric_avg_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_avg,
	COMBINEFUNC = penumbra_numeric.numeric_avg_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_avg_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_avg, PARALLEL = SAFE
);
CREATE AGGREGATE variance(numeric) (
	SFUNC = penumbra_numeric.numeric_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_var_samp,
	COMBINEFUNC = penumbra_numeric.numeric_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_var_samp, PARALLEL = SAFE
);
CREATE AGGREGATE var_samp(numeric) (
	SFUNC = penumbra_numeric.numeric_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_var_samp,
	COMBINEFUNC = penumbra_numeric.numeric_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_var_samp, PARALLEL = SAFE
);
CREATE AGGREGATE var_pop(numeric) (
	SFUNC = penumbra_numeric.numeric_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_var_pop,
	COMBINEFUNC = penumbra_numeric.numeric_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_var_pop, PARALLEL = SAFE
);
CREATE AGGREGATE stddev(numeric) (
	SFUNC = penumbra_numeric.numeric_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_stddev_samp,
	COMBINEFUNC = penumbra_numeric.numeric_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_stddev_samp, PARALLEL = SAFE
);
CREATE AGGREGATE stddev_samp(numeric) (
	SFUNC = penumbra_numeric.numeric_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_stddev_samp,
	COMBINEFUNC = penumbra_numeric.numeric_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_stddev_samp, PARALLEL = SAFE
);
CREATE AGGREGATE stddev_pop(numeric) (
	SFUNC = penumbra_numeric.numeric_accum, STYPE = internal, SSPACE = 128, FINALFUNC = penumbra_numeric.numeric_stddev_pop,
	COMBINEFUNC = penumbra_numeric.numeric_combine, SERIALFUNC = penumbra_numeric.numeric_serialize, DESERIALFUNC = penumbra_numeric.numeric_deserialize,
	MSFUNC = penumbra_numeric.numeric_accum, MINVFUNC = penumbra_numeric.numeric_accum_inv, MSTYPE = internal, MSSPACE = 128,
	MFINALFUNC = penumbra_numeric.numeric_stddev_pop, PARALLEL = SAFE
);
CREATE AGGREGATE min(numeric) (
	SFUNC = penumbra_numeric.numeric_smaller, STYPE = numeric, COMBINEFUNC = penumbra_numeric.numeric_smaller, SORTOP = OPERATOR(pg_catalog.<), PARALLEL = SAFE
);
CREATE AGGREGATE max(numeric) (
	SFUNC = penumbra_numeric.numeric_larger, STYPE = numeric, COMBINEFUNC = penumbra_numeric.numeric_larger, SORTOP = OPERATOR(pg_catalog.>), PARALLEL = SAFE
);

-- Operators
CREATE OPERATOR + (FUNCTION = penumbra_numeric.numeric_add, LEFTARG = numeric, RIGHTARG = numeric, COMMUTATOR = OPERATOR(penumbra_numeric.+));
CREATE OPERATOR - (FUNCTION = penumbra_numeric.numeric_sub, LEFTARG = numeric, RIGHTARG = numeric);
CREATE OPERATOR * (FUNCTION = penumbra_numeric.numeric_mul, LEFTARG = numeric, RIGHTARG = numeric, COMMUTATOR = OPERATOR(penumbra_numeric.*));
CREATE OPERATOR / (FUNCTION = penumbra_numeric.numeric_div, LEFTARG = numeric, RIGHTARG = numeric);
CREATE OPERATOR % (FUNCTION = penumbra_numeric.numeric_mod, LEFTARG = numeric, RIGHTARG = numeric);
CREATE OPERATOR ^ (FUNCTION = penumbra_numeric.numeric_power, LEFTARG = numeric, RIGHTARG = numeric);
CREATE OPERATOR - (FUNCTION = penumbra_numeric.numeric_uminus, RIGHTARG = numeric);
CREATE OPERATOR @ (FUNCTION = penumbra_numeric.numeric_abs, RIGHTARG = numeric);

-- Taking over
CREATE FUNCTION enable(scope text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_enable' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION enable(text) IS
	'puts this schema before pg_catalog in the search_path of the database, the role or the session; false if it is there';
CREATE FUNCTION disable(scope text) RETURNS boolean
	AS 'MODULE_PATHNAME', 'penumbra_numeric_disable' LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION disable(text) IS 'undoes enable(); false if there is nothing to undo';
GRANT USAGE ON SCHEMA penumbra_numeric TO PUBLIC;
-- enable() looks at the schemas that it puts before pg_catalog; later changes of them are shown, and most are refused.
CREATE FUNCTION open_schemas(search_path text) RETURNS text[]
	AS 'MODULE_PATHNAME', 'penumbra_numeric_open_schemas' LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION open_schemas(text) IS
	'schemas that the path searches before pg_catalog and that not only superusers can create objects in; NULL: it is without penumbra_numeric';
CREATE VIEW stored_paths AS
	SELECT r.rolname AS role, p.is_of_database, p.search_path,
		penumbra_numeric.open_schemas(p.search_path) AS open_schemas, r.oid IS NULL OR r.rolsuper AS is_guarded
	FROM (
		SELECT s.setrole, d.oid IS NOT NULL AS is_of_database,
			CASE WHEN pg_catalog.starts_with(s.setting, 'search_path='::pg_catalog.text)
				THEN pg_catalog.substr(s.setting, 13) END AS search_path
		FROM (SELECT setrole, setdatabase, pg_catalog.unnest(setconfig) AS setting FROM pg_catalog.pg_db_role_setting) s
			LEFT JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) s.setdatabase
		WHERE d.oid IS NULL OR d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
	) p LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) p.setrole
	WHERE penumbra_numeric.open_schemas(p.search_path) IS NOT NULL;
COMMENT ON VIEW stored_paths IS 'stored paths for this database that have penumbra_numeric, and who may hide functions in them';
GRANT SELECT ON stored_paths TO PUBLIC;
CREATE FUNCTION guard_schemas() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'penumbra_numeric_guard_schemas' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION guard_schemas() IS
	'internal: refuses what lets others than superusers create objects in a schema that a guarded path of stored_paths has before pg_catalog';
CREATE EVENT TRIGGER penumbra_numeric_guard_schemas ON ddl_command_end
	WHEN TAG IN ('GRANT', 'CREATE SCHEMA', 'ALTER SCHEMA', 'CREATE EXTENSION')
	EXECUTE FUNCTION penumbra_numeric.guard_schemas();

-- comments; "internal: ..." is nothing to call by hand
COMMENT ON FUNCTION @extschema@.numeric_add(numeric,numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.numeric_sub(numeric,numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.numeric_mul(numeric,numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.numeric_div(numeric,numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.mod(numeric,numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_mod(numeric,numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.div(numeric,numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_div_trunc(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.gcd(numeric,numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.lcm(numeric,numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.power(numeric,numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.pow(numeric,numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_power(numeric,numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.log(numeric,numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_log(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.sqrt(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_sqrt(numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.exp(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_exp(numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.ln(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_ln(numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.log(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.log10(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.factorial(bigint) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.abs(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_abs(numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.numeric_uminus(numeric) IS 'internal: behind an operator';
COMMENT ON FUNCTION @extschema@.sign(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.round(numeric,integer) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.round(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.trunc(numeric,integer) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.trunc(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.ceil(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.ceiling(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.floor(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.scale(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.min_scale(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.trim_scale(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_eq(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.numeric_ne(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.numeric_lt(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.numeric_le(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.numeric_gt(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.numeric_ge(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.numeric_cmp(numeric,numeric) IS 'internal: support of numeric';
COMMENT ON FUNCTION @extschema@.numeric_smaller(numeric,numeric) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_larger(numeric,numeric) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.hash_numeric(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.hash_numeric_extended(numeric,bigint) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@."numeric"(numeric,integer) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@."numeric"(smallint) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.int2(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@."numeric"(integer) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.int4(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@."numeric"(bigint) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.int8(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.float8(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON FUNCTION @extschema@.numeric_avg_accum(internal,numeric) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_accum(internal,numeric) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_accum_inv(internal,numeric) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_avg_combine(internal,internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_combine(internal,internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_serialize(internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_deserialize(bytea,internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_sum(internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_avg(internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_var_samp(internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_var_pop(internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_stddev_samp(internal) IS 'internal: support of an aggregate';
COMMENT ON FUNCTION @extschema@.numeric_stddev_pop(internal) IS 'internal: support of an aggregate';
COMMENT ON AGGREGATE @extschema@.sum(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.avg(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.variance(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.var_samp(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.var_pop(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.stddev(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.stddev_samp(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.stddev_pop(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.min(numeric) IS 'as in pg_catalog, on numeric';
COMMENT ON AGGREGATE @extschema@.max(numeric) IS 'as in pg_catalog, on numeric';
