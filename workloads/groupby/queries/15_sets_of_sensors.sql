-- the sensors of each shift
SELECT count(*), sum(length(sensors)), max(sensors)
FROM (SELECT shift, string_agg(DISTINCT sensor, ',' ORDER BY sensor) AS sensors FROM measures GROUP BY shift) AS s;
