-- revenue by month
SELECT date_trunc('month', l_shipdate) AS shipped, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem GROUP BY 1 ORDER BY 1;
