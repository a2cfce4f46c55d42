-- all columns of one day's returns
SELECT * FROM lineitem
WHERE l_shipdate = date '1995-06-17' AND l_returnflag = 'R'
ORDER BY l_orderkey, l_linenumber LIMIT 100;
