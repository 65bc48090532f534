-- The element types that a server can hold, and their names in Torch and C.
--
-- Functions of this package that run in every operation take `...` without using it, because LuaJIT does not start a
-- trace at a function with variable arguments. At any other function that interpreted code calls it would try to, fail
-- at the return, and after some failures give up every trace that passes through the function.
local ffi = require 'ffi'
local C = require 'luaps.library'

-- Columns: name in pyps, number in ps.h, tensor type (Torch7 has none for bfloat16), the method that converts a tensor
-- to this type, C type as LuaJIT prints it.
local rows = {
   {'float32', C.PS_FLOAT32, 'torch.FloatTensor', 'float', 'float'},
   {'float64', C.PS_FLOAT64, 'torch.DoubleTensor', 'double', 'double'},
   {'float16', C.PS_FLOAT16, 'torch.HalfTensor', 'half', 'unsigned short'},
   {'bfloat16', C.PS_BFLOAT16, nil, nil, 'unsigned short'},
   {'int32', C.PS_INT32, 'torch.IntTensor', 'int', 'int'},
   {'int64', C.PS_INT64, 'torch.LongTensor', 'long', 'int64_t'},
}

local elements = {names = {}, byname = {}, bynumber = {}}

for _, row in ipairs(rows) do
   local name, number, tensor, convert, ctype = row[1], tonumber(row[2]), row[3], row[4], row[5]
   local element = {
      name = name,
      number = number,
      tensor = tensor,
      convert = convert,
      ctype = ctype,
      stored = ctype == 'unsigned short' and 'uint16_t' or ctype, -- the spelling for messages
      bytes = C.ps_element_bytes(number),
   }
   elements.names[#elements.names + 1] = name
   elements.byname[name] = element
   elements.bynumber[number] = element
end

-- An element type for something whose type does not depend on the server; `reason` is what a message says about it.
function elements.fixed(name, reason)
   return setmetatable({reason = reason}, {__index = elements.byname[name]})
end

-- The C type of the elements of a cdata array or pointer (for example 'const float'), and whether it is a pointer.
function elements.ctype(cdata)
   local name = tostring(ffi.typeof(cdata)):match('^ctype<(.*)>$')
   local pointed = name:match('^([%w_ ]-) %*$')
   return pointed or name:match('^([%w_ ]-) %[[%d?]+%]$') or name:match('^([%w_ ]-) %(&%)%[%d+%]$'), pointed ~= nil
end

-- The class of a tensor ('torch.FloatTensor'); nil for every other value.
local classes = {}

function elements.tensorclass(value, ...) -- luacheck: ignore 212
   if type(value) ~= 'userdata' then
      return nil
   end
   local metatable = getmetatable(value)
   local class = classes[metatable]
   if class == nil and type(metatable) == 'table' then
      local name = rawget(metatable, '__typename')
      class = type(name) == 'string' and name:match('^torch%.%a+Tensor$') or false
      classes[metatable] = class
   end
   return class or nil
end

-- A method of a tensor, taken from its metatable. tensor[name] would call torch's __index function, which LuaJIT may
-- have compiled already, and a trace that reaches such a function ends.
function elements.method(tensor, name, ...) -- luacheck: ignore 212
   return getmetatable(tensor)[name]
end
local method = elements.method

-- The number of elements of a tensor, and whether they are contiguous. For one and two dimensions both are read from
-- the C struct, which is the same in every version of Torch7: a loop over the dimensions would end the trace of the
-- calling program.
function elements.layout(tensor, ...) -- luacheck: ignore 212
   local t = method(tensor, 'cdata')(tensor)
   if t.nDimension == 1 then
      local n = tonumber(t.size[0])
      return n, n == 1 or t.stride[0] == 1
   elseif t.nDimension == 2 then
      local height, width = tonumber(t.size[0]), tonumber(t.size[1])
      return height * width, (width == 1 or t.stride[1] == 1) and (height == 1 or t.stride[0] == width)
   end
   return tensor:nElement(), tensor:isContiguous()
end

return elements
