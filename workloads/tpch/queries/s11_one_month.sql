-- all columns of the first returns of a month
SELECT * FROM lineitem
WHERE l_shipdate >= date '1995-05-01' AND l_shipdate < date '1995-06-01' AND l_returnflag = 'R'
ORDER BY l_shipdate, l_orderkey, l_linenumber LIMIT 100;
