-- ~ of a line
SELECT count(*), sum(id) FROM visits WHERE line ~ ' [0-9]{5}ms ';
