-- Q12 without its join: late lines by shipping mode
SELECT l_shipmode,
       sum(CASE WHEN l_shipinstruct = 'DELIVER IN PERSON' THEN 1 ELSE 0 END) AS in_person,
       count(*) FILTER (WHERE l_quantity > 40) AS large
FROM lineitem
WHERE l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
  AND l_receiptdate >= date '1994-01-01' AND l_receiptdate < date '1995-01-01'
GROUP BY l_shipmode ORDER BY l_shipmode;
