-- smallest and largest values of three columns
SELECT min(l_shipdate), max(l_shipdate), min(l_extendedprice), max(l_extendedprice), max(l_quantity)
FROM lineitem;
