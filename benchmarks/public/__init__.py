"""Benchmarks that others made, each on a folder that holds its data; ``python -m benchmarks.public`` lists them."""
