-- !~ of a line
SELECT count(*), sum(id) FROM visits WHERE line !~ 'GET|POST';
