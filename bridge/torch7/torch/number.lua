-- Numbers out of memory. LuaJIT tells its values apart by the bits of NaNs, and takes what FFI reads as it is: a NaN
-- that an uninitialised tensor or a file holds may become nil, or a table at an address of the file's choice. So no
-- float or double gets to Lua from a tensor's memory but through here (or, written out for speed, torch.element).
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'

local band, cast = require('bit').band, ffi.cast
local C = native.C

-- [element type] = function(data, i): the number at data[i], `data` being a pointer to elements of the type.
local numbers = {}

for id = 0, elements.count - 1 do
   local element = elements[id]
   local parts, mask = element.parts, element.nanmask
   if mask then
      numbers[id] = function(data, i)
         if band(cast(parts, data)[i].high, mask) == mask then
            return C.br_number(data + i, id)
         end
         return data[i]
      end
   elseif element.name == 'Half' then
      numbers[id] = function(data, i)
         return C.br_half_to_double(data[i])
      end
   else
      numbers[id] = function(data, i)
         return tonumber(data[i])
      end
   end
end

return numbers
