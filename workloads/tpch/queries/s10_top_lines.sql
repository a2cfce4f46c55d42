-- the twenty dearest lines
SELECT l_orderkey, l_linenumber, l_extendedprice, l_shipmode, l_comment
FROM lineitem ORDER BY l_extendedprice DESC, l_orderkey, l_linenumber LIMIT 20;
