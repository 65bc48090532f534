"""What `moontide stats` and `moontide top` show of a cluster's nodes.

Files in reading order: sources (where a reading comes from), cluster (all nodes at once), tables (readings as lines),
screen (a terminal that is drawn again and again), picture (the same as an SVG).
"""

from __future__ import annotations
