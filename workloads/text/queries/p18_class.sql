-- ~ of a name
SELECT count(*), sum(id) FROM visits WHERE name ~ '[A-Z][a-z]+ [A-Z]';
