-- revenue by shipping mode
SELECT l_shipmode, count(*), sum(l_extendedprice), avg(l_discount)
FROM lineitem GROUP BY l_shipmode ORDER BY l_shipmode;
