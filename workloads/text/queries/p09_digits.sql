-- ~ of a url
SELECT count(*), sum(id) FROM visits WHERE url ~ '/[0-9]{6}$';
