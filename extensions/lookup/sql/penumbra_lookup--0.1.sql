CREATE FUNCTION penumbra_lookup.get_executions(OUT outcome text, OUT executions bigint, OUT description text)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'penumbra_lookup_get_executions' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION penumbra_lookup.get_executions() IS 'internal: what the view executions shows';

CREATE VIEW penumbra_lookup.executions AS
	SELECT e.outcome, e.executions, e.description FROM penumbra_lookup.get_executions() e;
COMMENT ON VIEW penumbra_lookup.executions IS
	'how many executions of this session took a ready state, and why the others did not';

CREATE FUNCTION penumbra_lookup.reset_executions() RETURNS void
	AS 'MODULE_PATHNAME', 'penumbra_lookup_reset_executions' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION penumbra_lookup.reset_executions() IS 'sets the counts of the view executions to zero';

-- They show and change nothing but the session's own counts.
GRANT USAGE ON SCHEMA penumbra_lookup TO PUBLIC;
GRANT SELECT ON penumbra_lookup.executions TO PUBLIC;
