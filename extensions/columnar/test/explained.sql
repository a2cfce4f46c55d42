-- Whether all of a query runs in vectors, and what PostgreSQL evaluates for the engine.
CREATE FUNCTION explained(query text, OUT in_vectors boolean, OUT calls text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	in_vectors := true;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ '^\S|->  (?!Vector)|^ +SubPlan' THEN
			in_vectors := in_vectors AND line ~ 'Custom Scan .Penumbra';
		ELSIF line ~ 'Evaluated By PostgreSQL' THEN
			calls := concat_ws('; ', calls, substring(line FROM ': (.*)'));
		END IF;
	END LOOP;
END $$;

-- The same, and whether the answer is PostgreSQL's.
CREATE FUNCTION compared(query text, mode text DEFAULT 'auto', OUT in_vectors boolean, OUT calls text, OUT are_equal boolean) LANGUAGE plpgsql AS $$
DECLARE
	expected text;
	found text;
BEGIN
	SET LOCAL penumbra.mode = off;
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO expected;
	PERFORM set_config('penumbra.mode', mode, true);
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO found;
	SELECT e.in_vectors, e.calls INTO in_vectors, calls FROM explained(query) e;
	are_equal := expected IS NOT DISTINCT FROM found;
	RESET penumbra.mode;
END $$;
