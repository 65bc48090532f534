-- The few operations that the tests' networks take.
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

function operations:add(value)
   local data = self:data()
   if torch.isTensor(value) then
      local other = value:data()
      for i = 0, self:nElement() - 1 do data[i] = data[i] + other[i] end -- both without gaps
      return self
   end
   each(self, function(at) data[at] = data[at] + value end)
   return self
end

-- 1 where an element is not less, else 0.
function operations:ge(value)
   local result = self:clone()
   local data = result:data()
   each(result, function(at) data[at] = data[at] >= value and 1 or 0 end)
   return result
end

function operations:typeAs(other) return self:type(other:type()) end

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
