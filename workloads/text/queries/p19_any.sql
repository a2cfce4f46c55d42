-- ~ of a line
SELECT count(*), sum(id) FROM visits WHERE line ~ 'v2.*5[0-9][0-9].*WARN';
