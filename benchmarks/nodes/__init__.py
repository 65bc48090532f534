"""The parameter server across nodes, each a process of its own, beside what else moves the same bytes over loopback.

`python -m benchmarks ps` measures this after what `benchmarks/ps.py` measures on one node.
"""
