-- Whether all of a query runs in vectors, and what PostgreSQL evaluates for the engine.
CREATE FUNCTION explained(query text, OUT in_vectors boolean, OUT calls text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	in_vectors := true;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ '^\S|->  (?!Vector)' THEN
			in_vectors := in_vectors AND line ~ 'Custom Scan .Penumbra';
		ELSIF line ~ 'Evaluated By PostgreSQL' THEN
			calls := concat_ws('; ', calls, substring(line FROM ': (.*)'));
		END IF;
	END LOOP;
END $$;
