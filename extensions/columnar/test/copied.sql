\set ECHO none
-- What :copy sends to the client by PostgreSQL's plan and by ours: the number of rows, and whether the bytes are the same.
SET penumbra.mode = off;
:copy \g :theirs
\set their_rows :ROW_COUNT
SET penumbra.mode = require;
:copy \g :ours
\set our_rows :ROW_COUNT
RESET penumbra.mode;
SELECT CASE WHEN pg_read_binary_file(:'ours') = pg_read_binary_file(:'theirs') AND :our_rows = :their_rows THEN 'alike' ELSE 'DIFFERENT' END AS result \gset
\echo :our_rows rows, :result
\set ECHO all
