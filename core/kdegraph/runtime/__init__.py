"""Compiled code, threads, progress reports, memory, random numbers and atomic writes."""
