-- median and deviation of the weights of shifts of lines
SELECT count(*), sum(median), round(sum(deviation)::numeric, 2)
FROM (
    SELECT line, shift, percentile_cont(0.5) WITHIN GROUP (ORDER BY weight) AS median, stddev(weight) AS deviation
    FROM measures
    GROUP BY line, shift
) AS s;
