-- Indices where a module's numbers are: torch.LongTensors, or torch.CudaLongTensors on a device.
local elements = require 'torch.elements'
local object = require 'torch.object'

local LONG = elements.Long.id

local longs = {}

-- `indices` (nil: none yet) as longs beside a tensor.
function longs.beside(indices, tensor)
   local dtype = elements.beside(LONG, object.dtype(tensor))
   if indices == nil then
      return object.newtensor(dtype)
   end
   return object.dtype(indices) == dtype and indices or indices:type(elements[dtype].tensortype)
end

-- The numbers of a tensor as longs that lie where it does.
function longs.of(tensor)
   return longs.beside(tensor, tensor)
end

return longs
