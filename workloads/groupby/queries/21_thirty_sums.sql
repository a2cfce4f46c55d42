-- thirty sums of one column
SELECT
    sum(grade + 0) AS s0, sum(grade + 1) AS s1, sum(grade + 2) AS s2, sum(grade + 3) AS s3, sum(grade + 4) AS s4,
    sum(grade + 5) AS s5, sum(grade + 6) AS s6, sum(grade + 7) AS s7, sum(grade + 8) AS s8, sum(grade + 9) AS s9,
    sum(grade + 10) AS s10, sum(grade + 11) AS s11, sum(grade + 12) AS s12, sum(grade + 13) AS s13, sum(grade + 14) AS s14,
    sum(grade + 15) AS s15, sum(grade + 16) AS s16, sum(grade + 17) AS s17, sum(grade + 18) AS s18, sum(grade + 19) AS s19,
    sum(grade + 20) AS s20, sum(grade + 21) AS s21, sum(grade + 22) AS s22, sum(grade + 23) AS s23, sum(grade + 24) AS s24,
    sum(grade + 25) AS s25, sum(grade + 26) AS s26, sum(grade + 27) AS s27, sum(grade + 28) AS s28, sum(grade + 29) AS s29
FROM measures;
