-- ~ of a line
SELECT count(*), sum(id) FROM visits WHERE line ~ '^10\.(1|2)[0-9]*\.';
