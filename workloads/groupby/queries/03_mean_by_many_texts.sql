-- grades and weights of batches
SELECT count(*), sum(grades), max(mean)
FROM (SELECT batch, sum(grade) AS grades, avg(weight) AS mean FROM measures GROUP BY batch) AS s;
