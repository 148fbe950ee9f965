"""The eigensolver: LAPACK for small graphs, else an iteration on a block of vectors."""
