"""Compiled code, threads, progress, memory and random numbers: what the package runs on."""
