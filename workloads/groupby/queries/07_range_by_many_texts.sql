-- span of the grades and faults of batches
SELECT count(*), sum(span) FROM (SELECT batch, max(grade) - min(faults) AS span FROM measures GROUP BY batch) AS s;
