-- spread of prices and discounts by return flag
SELECT l_returnflag, stddev_samp(l_extendedprice), var_pop(l_discount), avg(l_tax)
FROM lineitem GROUP BY l_returnflag ORDER BY l_returnflag;
