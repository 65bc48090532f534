"""How the nodes of a cluster find each other, agree and start: over torch's TCPStore, in one of three ways.

Files in reading order: environment, places, interfaces (who and where), store, meeting, offers (what is said while
it starts), presence, guests, watch (what is noticed afterwards), start (one process's part), dmlc, launch (`init`).
"""

from __future__ import annotations
