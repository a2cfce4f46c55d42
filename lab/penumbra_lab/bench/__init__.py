"""The benchmarks: each makes a document and the table that is printed of it."""
