"""The boundary between Python and Lua: one `State` per LuaJIT state, conversions, calls in both directions.

The LuaJIT library is lupa's; the boundary calls its C API directly, through a table of function pointers. A Lua error
never unwinds a frame that holds Python references (boundary/trampoline.h), and the GIL is released while Lua runs.

The module is one unit of several files; boundary/README.md says what each is about and which calls which.
"""
cimport cython

import os
import sys
import threading
import time

import numpy

from bridge import torch_support
from bridge.errors import LuaError, StateBusy, StateClosed
from bridge.familiar import LUTORPY, pointer
from bridge.torch_support import import_torch
from bridge.boundary.marks import Index, index, null, shift_index
from bridge.boundary.refusals import explained
from bridge.boundary.signature import signature

include "boundary/memory.pxi"
include "boundary/torch.pxi"
include "boundary/push.pxi"
include "boundary/pull.pxi"
include "boundary/foreign.pxi"
include "boundary/device.pxi"
include "boundary/proxies.pxi"
include "boundary/interrupt.pxi"
include "boundary/state.pxi"
include "boundary/texts.pxi"
include "boundary/errors.pxi"
include "boundary/callback.pxi"
