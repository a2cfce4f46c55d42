-- rows of lineitem
SELECT count(*) FROM lineitem;
