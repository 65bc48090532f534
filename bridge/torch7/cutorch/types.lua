-- The names of the CUDA types: torch.CudaTensor holds floats, torch.CudaXTensor what torch.XTensor holds.
local elements = require 'torch.elements'

local types = {}

for id = 0, elements.count - 1 do
   local element = elements[id]
   local name = element.name == 'Float' and 'Cuda' or 'Cuda' .. element.name
   types[id] = {
      id = id,
      element = element,
      name = name,
      tensortype = 'torch.' .. name .. 'Tensor',
      storagetype = 'torch.' .. name .. 'Storage',
      conversion = element.name == 'Float' and 'cuda' or 'cuda' .. element.name, -- the method: t:cuda(), t:cudaLong()
   }
end

return types
