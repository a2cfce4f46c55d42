-- posts by their number of tags
SELECT cardinality(tags), count(*), avg(id)
FROM posts
GROUP BY 1
ORDER BY 1;
