-- serials of the first quarter that came back in the last
SELECT count(*), sum(serial)
FROM (
    SELECT serial FROM measures WHERE taken_at < timestamp '2025-04-01'
    INTERSECT
    SELECT serial FROM measures WHERE taken_at >= timestamp '2025-10-01'
    EXCEPT
    SELECT serial FROM measures WHERE faults > 12
) AS s;
