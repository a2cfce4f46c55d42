-- Q13's filter: orders not about special requests, by customer, the ten busiest
SELECT o_custkey, count(*) AS orders
FROM orders WHERE o_comment NOT LIKE '%special%requests%'
GROUP BY o_custkey ORDER BY orders DESC, o_custkey LIMIT 10;
