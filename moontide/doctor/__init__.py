"""What of Moontide works on a machine, and what to do about the rest: `moontide doctor`.

`checks` looks at one part each. `runner` runs every check in a process of its own, so that a part that ends its process
is a finding too.
"""
