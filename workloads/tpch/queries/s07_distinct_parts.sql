-- distinct parts sold, by year of shipping
SELECT extract(year FROM l_shipdate) AS shipped, count(DISTINCT l_partkey) AS parts
FROM lineitem GROUP BY 1 ORDER BY 1;
