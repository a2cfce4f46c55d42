-- The three methods sort alike, or the function fails; times are not looked at.
CREATE EXTENSION IF NOT EXISTS penumbra_sort;
SET search_path = penumbra_sort, public;
SELECT type, shape, elements, array_agg(method) AS methods, bool_and(milliseconds >= 0 AND ns_per_element >= 0) AS measured
FROM unnest('{int2,int4,int8,float4,float8,uuid}'::regtype[]) type,
     unnest('{random,sorted,reversed,equal,few,saw-tooth}'::text[]) shape,
     unnest('{1,30,5000}'::int[]) elements,
     sort_compare_methods(type, elements, shape, 7)
WHERE shape = 'random' OR elements = 5000
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
\set VERBOSITY sqlstate
SELECT * FROM sort_compare_methods('text');
SELECT * FROM sort_compare_methods('int4', 0);
SELECT * FROM sort_compare_methods('int4', 10, 'zigzag');
\set VERBOSITY default
SELECT * FROM sort_compare_methods('text');
SELECT * FROM sort_compare_methods('int4', 10, 'zigzag');
-- memory for all elements is not everybody's
CREATE ROLE regress_sort_anybody;
SET ROLE regress_sort_anybody;
SELECT * FROM sort_compare_methods('int4', 10);
SELECT sort('{2,1}'::int[]);
RESET ROLE;
DROP ROLE regress_sort_anybody;
