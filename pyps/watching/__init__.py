"""What can be seen of a node from outside: readings of its statistics, and an HTTP endpoint that gives them.

Files in reading order: reading (what is read), prometheus (as Prometheus reads it), requests (one HTTP request),
endpoint (the server).
"""

from __future__ import annotations
