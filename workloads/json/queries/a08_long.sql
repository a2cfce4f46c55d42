-- long lists with an element
SELECT count(*), sum(id) FROM posts WHERE array_length(scores, 1) > 5 AND scores @> ARRAY[1];
