"""How the nodes of a cluster find each other, agree and start, over torch's TCPStore.

Files in reading order: environment, places, interfaces (which process this is, and where); store, meeting, offers (what
processes tell each other at the start); presence, guests, watch (what they notice later); start (what one process
does); dmlc, launch (`init`).
"""

from __future__ import annotations
