-- The few operations that the tests' networks take.
local ffi = require 'ffi'
local th = require 'torch.th'

-- Call with the offset of every element.
local function each(tensor, act)
   local t = th.tensor(tensor)
   local function go(d, offset)
      if d == t.nDimension then
         return act(offset)
      end
      for i = 0, tonumber(t.size[d]) - 1 do
         go(d + 1, offset + i * tonumber(t.stride[d]))
      end
   end
   if t.nDimension > 0 then
      go(0, 0)
   end
end

local operations = {}

function operations:nElement()
   local n = self:dim() > 0 and 1 or 0
   for d = 1, self:dim() do n = n * self:size(d) end
   return n
end

function operations:fill(value)
   local data = self:data()
   each(self, function(at) data[at] = value end)
   return self
end

function operations:zero() return self:fill(0) end

-- Each element by a function of it and its number.
local function map(self, act)
   local data, n = self:data(), 0
   each(self, function(at)
      n = n + 1
      data[at] = act(tonumber(data[at]), n)
   end)
   return self
end

function operations:copy(other)
   local from, to, offsets, n = other:data(), self:data(), {}, 0
   each(other, function(at) offsets[#offsets + 1] = at end)
   each(self, function(at)
      n = n + 1
      to[at] = from[offsets[n]]
   end)
   return self
end

function operations:clone() return self:new():resizeAs(self):copy(self) end

function operations:add(other)
   if type(other) == 'number' then
      return map(self, function(x) return x + other end)
   end
   local values = other:contiguous():data()
   return map(self, function(x, i) return x + tonumber(values[i - 1]) end)
end

function operations:ge(bound)
   local result = torch.ByteTensor():resize(self:size())
   local values = self:contiguous():data()
   return map(result, function(_, i) return values[i - 1] >= bound and 1 or 0 end)
end

-- The name of the type, or a copy of another type.
function operations:type(wanted)
   if not wanted then
      return torch.typename(self)
   end
   return wanted == torch.typename(self) and self or torch[wanted:match('%w+$')]():resize(self:size()):copy(self)
end

function operations:typeAs(other) return self:type(other:type()) end

function operations:long() return self:type('torch.LongTensor') end

function operations:sum()
   local data, total = self:data(), 0
   each(self, function(at) total = total + tonumber(data[at]) end)
   return total
end

for name in pairs(th.types) do
   local methods = torch.getmetatable('torch.' .. name .. 'Tensor').__methods
   for operation, act in pairs(operations) do
      methods[operation] = act
   end
end

-- FFI's pointer to the elements, and the address of the struct.
function torch.data(tensor) return tensor:data() end

function torch.pointer(object) return tonumber(ffi.cast('intptr_t', th.tensor(object))) end

function torch.zeros(...) return torch.Tensor(...):zero() end

function torch.ones(...) return torch.Tensor(...):fill(1) end

-- Tensors one below the other.
function torch.cat(parts)
   local rows, sizes = 0, parts[1]:size():totable()
   for _, part in ipairs(parts) do rows = rows + part:size(1) end
   sizes[1] = rows
   local whole, first = parts[1]:new():resize(sizes), 1
   for _, part in ipairs(parts) do
      whole:narrow(1, first, part:size(1)):copy(part)
      first = first + part:size(1)
   end
   return whole
end
