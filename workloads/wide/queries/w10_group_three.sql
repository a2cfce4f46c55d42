-- three keys, one with NULLs
SELECT os, browser, payment_method, count(*), sum(quantity)
FROM events GROUP BY os, browser, payment_method ORDER BY 4 DESC, 1, 2, 3 NULLS LAST LIMIT 50;
