-- ~ of a url
SELECT count(*), sum(id) FROM visits WHERE url ~ '(cart|search)/[0-9]+\?q=';
