"""Benchmarks against peers in the same process: `omnigram bench NAME`, or `python -m omnigram.bench NAME`."""
