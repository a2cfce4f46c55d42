SELECT count(DISTINCT left(m, 3)), max(m), sum(n), string_agg(word, ',' ORDER BY word) FROM
	(SELECT md5(aid::text) AS m, (aid::numeric * 1.07) / (aid % 7 + 1) AS n,
			regexp_replace('account ' || aid, '[0-9]+', 'number') || aid % 5 AS word
		FROM pgbench_accounts WHERE aid <= 3000) rows
	WHERE m ~ '^[0-9a-f]+$' AND jsonb_build_object('key', m, 'n', n) ->> 'key' LIKE '%a%'
		AND date '2026-01-01' + length(m) > date '2025-12-31';
