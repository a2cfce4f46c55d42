-- Q15's view: revenue of each supplier in a quarter, the ten largest
SELECT l_suppkey, sum(l_extendedprice * (1 - l_discount)) AS total_revenue
FROM lineitem
WHERE l_shipdate >= date '1996-01-01' AND l_shipdate < date '1996-04-01'
GROUP BY l_suppkey ORDER BY total_revenue DESC, l_suppkey LIMIT 10;
