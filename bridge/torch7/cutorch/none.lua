-- The backend without a device: the names of cutorch are there, and what would put a tensor on a GPU tells the way out.
-- torch.CudaTensor and its kin stay nil, as programs look there for whether there is a GPU.
local elements = require 'torch.elements'
local object = require 'torch.object'
local types = require 'cutorch.types'

local none = {count = 0, generators = 'cutorch.generators', streams = require 'cutorch.idle'}

-- Refuse `what`: the error is that of the function's caller.
function none.refuse(what)
   error(what .. ' needs a GPU: there is no GPU here that torch can use. Set MOONTIDE_CUDA=cpu in the environment ' ..
      'to run GPU programs on the CPU, or turn the GPU option of the program off', 3)
end

local function refuser(what)
   return function()
      none.refuse(what)
   end
end

function none.install()
   local needed = {}
   for id = 0, elements.count - 1 do
      local kind = types[id]
      needed[kind.tensortype] = true
      for other = 0, elements.count - 1 do
         object.metatables[other][kind.conversion] = refuser('tensor:' .. kind.conversion .. '()')
      end
   end
   for id = 0, elements.count - 1 do
      local metatable = object.metatables[id]
      local convert = metatable.type
      function metatable:type(name)
         if needed[name] then
            none.refuse(name)
         end
         return convert(self, name)
      end
   end
end

return none
