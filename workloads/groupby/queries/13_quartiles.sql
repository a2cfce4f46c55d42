-- quartiles of the costs of lines
SELECT count(*), sum(quartiles[1]), sum(quartiles[2]), sum(quartiles[3])
FROM (
    SELECT line, percentile_disc(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY cost) AS quartiles
    FROM measures
    GROUP BY line
) AS s;
