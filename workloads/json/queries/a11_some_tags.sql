-- posts with tags of a pattern
SELECT count(*), count(DISTINCT id) FROM posts, unnest(tags) AS tag WHERE tag LIKE 'tag 1_3%';
