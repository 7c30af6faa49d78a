"""Benchmarks and the experiments of the paper."""
