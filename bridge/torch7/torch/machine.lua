-- The machine: its cores, torch's threads, and the memory that drives the collector.
local ffi = require 'ffi'
local class = require 'torch.class'
local native = require 'bridge.native'
local arguments = require 'torch.arguments'

local MASK = 8192 -- bytes of an affinity mask: 65536 cores

ffi.cdef 'long sysconf(int name);'
if ffi.os == 'Linux' then
   ffi.cdef 'int br_getaffinity(int pid, size_t size, uint8_t *mask) __asm__("sched_getaffinity");'
end

-- Cores that this process may run on.
local function allowed()
   local mask, count = ffi.new('uint8_t[?]', MASK), 0
   if ffi.C.br_getaffinity(0, MASK, mask) < 0 then
      return 0
   end
   for i = 0, MASK - 1 do
      local byte = mask[i]
      while byte > 0 do
         count, byte = count + byte % 2, math.floor(byte / 2)
      end
   end
   return count
end

local function python(name, ...)
   if not native.python then
      error(string.format("torch.%s needs Python's torch, which this state has no way to", name), 3)
   end
   return native.python(name, ...)
end

return function(torch)
   if native.torch_library then
      native.C.br_parallel_library(native.torch_library)
   end

   function torch.getnumcores()
      local count = ffi.os == 'Linux' and allowed() or 0
      if count == 0 then
         count = tonumber(ffi.C.sysconf(ffi.os == 'OSX' and 58 or 84)) -- _SC_NPROCESSORS_ONLN
      end
      return math.max(count, 1)
   end

   function torch.getnumthreads()
      return python('get_num_threads')
   end

   function torch.setnumthreads(...)
      local n = arguments.integer(1, ..., select('#', ...))
      if n < 1 or n >= 2^31 then
         arguments.bad(1, 'at least 1 thread, got %.0f', n)
      end
      python('set_num_threads', n)
   end
   arguments.public(torch.setnumthreads)

   -- Bytes of tensors always drive the collector here; programs may still say whether they want that.
   function torch.setheaptracking(enabled)
      if type(enabled) ~= 'boolean' then
         arguments.typeerror(1, 'boolean', enabled)
      end
      torch._heaptracking = enabled
   end
   arguments.public(torch.setheaptracking)
   torch._heaptracking = true

   -- A class without instances: of C allocators, which our storages do not take.
   class.adopt('torch.Allocator', {}, function()
      error('no constructor available', 3)
   end)
end
