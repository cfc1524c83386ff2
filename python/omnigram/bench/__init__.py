"""Benchmarks against peers, measured interleaved in one process."""
