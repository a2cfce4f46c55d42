SELECT aid % 10 AS last_digit, count(*), sum(abalance), avg(abalance), min(filler) FROM pgbench_accounts GROUP BY 1;
