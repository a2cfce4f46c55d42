-- Q4 without its sub-query: orders of a quarter by priority
SELECT o_orderpriority, count(*) AS order_count, sum(o_totalprice), max(o_totalprice)
FROM orders
WHERE o_orderdate >= date '1993-07-01' AND o_orderdate < date '1993-10-01'
GROUP BY o_orderpriority ORDER BY o_orderpriority;
