-- TH's C functions that programs declare themselves and call by FFI. Threads hand memory on with them: the sender takes
-- a storage out of its tensor and gives its address, the receiver frees its own and puts the other's in its place.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'

local C = native.C

return function()
   local functions = {}
   for id = 0, elements.count - 1 do
      local name = 'TH' .. elements[id].name .. 'Storage'
      functions[name .. '_free'] = function(storage)
         C.br_storage_release(ffi.cast('br_storage*', storage))
      end
      functions[name .. '_retain'] = function(storage)
         C.br_storage_retain(ffi.cast('br_storage*', storage))
      end
   end
   -- ffi.C looks in the symbols of the process, and ours are private to their library (bridge/core/lua/lua_api.h).
   ffi.C = setmetatable(functions, {__index = ffi.C, __newindex = ffi.C})
end
