-- What `penumbra bench scale-out` asks of Citus, by one server that says it is a coordinator with three workers. All
-- shards are the table itself.
SET allow_system_table_mods = on;
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
	SELECT 16000, 'citus', extowner, 11, false, '0' FROM pg_extension WHERE extname = 'plpgsql';
CREATE TABLE pg_catalog.pg_dist_node (nodeid int PRIMARY KEY, groupid int, nodename text, nodeport int,
	isactive boolean DEFAULT true, shouldhaveshards boolean DEFAULT true, noderole text DEFAULT 'primary');
INSERT INTO pg_catalog.pg_dist_node (nodeid, groupid, nodename, nodeport, shouldhaveshards)
	SELECT g, g - 1, 'node' || g, 5432, g > 1 FROM generate_series(1, 4) g;
CREATE TABLE pg_catalog.pg_dist_shard (shardid bigint PRIMARY KEY, logicalrelid regclass, colocated int);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint, groupid int);
GRANT SELECT ON pg_catalog.pg_dist_node TO PUBLIC;
-- what was asked for, in turn
CREATE TABLE public.asked (id int GENERATED ALWAYS AS IDENTITY, what text);

CREATE FUNCTION pg_catalog.citus_is_coordinator() RETURNS boolean LANGUAGE sql RETURN true;

CREATE FUNCTION pg_catalog.run_command_on_all_nodes(command text) RETURNS TABLE (nodeid int, success boolean, result text)
LANGUAGE plpgsql AS $$
BEGIN
	FOR nodeid IN SELECT n.nodeid FROM pg_dist_node n LOOP
		success := nodeid <> coalesce(nullif(current_setting('emulation.down', true), ''), '0')::int;
		result := 'connection to the remote node failed';
		IF success THEN EXECUTE command INTO result; END IF;
		RETURN NEXT;
	END LOOP;
END $$;

CREATE FUNCTION pg_catalog.create_reference_table(relation regclass) RETURNS void LANGUAGE sql BEGIN ATOMIC
	INSERT INTO public.asked (what) VALUES ('reference ' || relation);
	WITH shard AS (INSERT INTO pg_dist_shard SELECT coalesce(max(shardid), 100) + 1, relation, NULL FROM pg_dist_shard RETURNING shardid)
		INSERT INTO pg_dist_placement SELECT shardid, groupid FROM shard, pg_dist_node;
END;

CREATE FUNCTION pg_catalog.create_distributed_table(relation regclass, distribution_column text,
	colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL) RETURNS void LANGUAGE sql BEGIN ATOMIC
	INSERT INTO public.asked (what) VALUES (format('%s by %s beside %s', relation, distribution_column, colocate_with));
	INSERT INTO pg_dist_shard
		SELECT (SELECT coalesce(max(shardid), 100) FROM pg_dist_shard) + g, relation, g FROM generate_series(1,
			coalesce(shard_count, (SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = to_regclass(colocate_with)))) g;
	INSERT INTO pg_dist_placement
		SELECT shardid, 1 + colocated % 3 FROM pg_dist_shard WHERE logicalrelid = relation;
END;

CREATE FUNCTION pg_catalog.citus_move_shard_placement(shard bigint, source text, source_port int, target text,
	target_port int, mode text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.asked (what) VALUES (format('move from %s to %s, %s', source, target, mode));
	UPDATE pg_dist_placement p SET groupid = t.groupid FROM pg_dist_node s, pg_dist_node t
		WHERE p.shardid = shard AND p.groupid = s.groupid AND s.nodename = source AND t.nodename = target;
	ASSERT FOUND, 'no such placement';
END $$;

CREATE FUNCTION pg_catalog.run_command_on_placements(relation regclass, command text)
RETURNS TABLE (nodename text, nodeport int, shardid bigint, success boolean, result text) LANGUAGE plpgsql AS $$
BEGIN
	FOR nodename, nodeport, shardid IN SELECT n.nodename, n.nodeport, s.shardid FROM pg_dist_shard s
		JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid) WHERE s.logicalrelid = relation LOOP
		EXECUTE format(command, relation) INTO result;
		success := true;
		RETURN NEXT;
	END LOOP;
END $$;
