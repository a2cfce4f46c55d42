-- lines whose comment speaks of special requests
SELECT count(*) FROM lineitem WHERE l_comment LIKE '%special%requests%';
