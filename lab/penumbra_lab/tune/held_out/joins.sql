SELECT b.bid, count(*), sum(a.abalance), max(rank) FROM
	(SELECT bid, aid, abalance, rank() OVER (PARTITION BY aid % 100 ORDER BY abalance, aid) AS rank
		FROM pgbench_accounts WHERE aid <= 20000) a
	JOIN pgbench_tellers t ON t.tid = a.aid % 10 + 1
	JOIN pgbench_branches b ON b.bid = t.bid
	WHERE a.aid IN (SELECT aid * 2 FROM pgbench_accounts WHERE aid <= 8000)
	GROUP BY b.bid ORDER BY b.bid;
