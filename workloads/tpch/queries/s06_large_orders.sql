-- Q18's sub-query: orders of more than 300 pieces (millions of groups)
SELECT l_orderkey, sum(l_quantity) AS pieces
FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300 ORDER BY pieces DESC, l_orderkey LIMIT 100;
