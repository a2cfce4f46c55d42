-- Q22 without its sub-queries: customers in credit by country code
SELECT substring(c_phone FROM 1 FOR 2) AS country, count(*), sum(c_acctbal)
FROM customer
WHERE substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17') AND c_acctbal > 0.00
GROUP BY 1 ORDER BY 1;
