"""What torch.compile leaves as it is.

`torch.compiler.disable` imports the compiler when it decorates: two seconds, and a directory of temporary files. What
torch's own optimizers are decorated with does so at the first call.
"""

from __future__ import annotations

from torch._compile import _disable_dynamo as not_compiled

__all__ = ["not_compiled"]
