-- ~ of a url
SELECT count(*), sum(id) FROM visits WHERE url ~ '//host[0-9]*7\.(com|org)/';
