-- The native part of the runtime, for Lua: the C declarations of bridge/core/, the library that has these functions,
-- this state's heap, and the C functions that make userdata.
local ffi = require 'ffi'

local native = ... -- the table that the boundary made and boot.lua extended
if type(native) ~= 'table' then
   return require('bridge.native')
end

for _, header in ipairs(native.headers) do
   ffi.cdef(header)
end

native.C = ffi.load(native.library)
native.heap = ffi.cast('br_heap*', native.heap)

return native
