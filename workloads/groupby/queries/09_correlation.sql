-- how faults go with grades, by sensor and tenth of shifts
SELECT count(*), round(sum(related)::numeric, 3)
FROM (
    SELECT sensor, shift / 10 AS tenth, corr(grade, faults) * corr(grade, faults) AS related
    FROM measures
    GROUP BY sensor, shift / 10
) AS s;
