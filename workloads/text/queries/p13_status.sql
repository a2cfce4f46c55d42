-- ~ of a line
SELECT count(*), sum(id) FROM visits WHERE line ~ '\" [45][0-9][0-9] ';
