-- ~* of a line
SELECT count(*), sum(id) FROM visits WHERE line ~* 'error: TIME';
