-- What a module found out from its fields and the sizes of its input, kept until one of them changes.
--
-- Small inputs need this: finding out takes longer than torch's kernels. There are no loops in what runs at every call,
-- because LuaJIT compiles an inner loop for itself and leaves what is around it to the interpreter.
local aten = require 'torch.aten'
local object = require 'torch.object'
local shape = require 'nn.shared.shape'

local plan = {}

local dtype, tensor = object.dtype, object.tensor

-- Has a tensor these n (1 to 5) sizes?
local function fits(t, sizes, n)
   t = tensor(t)
   local size = t.size
   return t.nDimension == n and size[0] == sizes[1] and (n < 2 or size[1] == sizes[2])
      and (n < 3 or size[2] == sizes[3]) and (n < 4 or size[3] == sizes[4]) and (n < 5 or size[4] == sizes[5])
end

-- Give a tensor the sizes of the input or the output.
function plan.resize(t, sizes)
   return fits(t, sizes, #sizes) and t or shape.resize(t, sizes)
end

-- A gradient must have the sizes of the output.
function plan.expect(p, gradOutput)
   if not (dtype(gradOutput) and fits(gradOutput, p.to, #p.to)) then
      for d = 1, #p.to do
         shape.expect('gradOutput', gradOutput, d, p.to[d])
      end
      error('gradOutput has more dimensions than the output: ' .. shape.text(gradOutput), 0)
   end
end

local source = [[
local plans, make, fits, dtype = ...
return function(self, input)
   local p = plans[self]
   if p and dtype(input) and fits(input, p.from, p.dimensions)%s then
      return p
   end
   p = make(self, input)
%s   plans[self] = p
   return p
end
]]

-- A function from a module and its input to the module's plan, which `make(self, input)` makes anew when one of the
-- fields or of the input's sizes has changed: a table with the output's sizes in `to`, and what else its users want.
function plan.keeper(fields, make)
   local compare, record = {}, {}
   for i, field in ipairs(fields) do
      compare[i] = string.format(' and p.field%d == self.%s', i, field)
      record[i] = string.format('   p.field%d = self.%s\n', i, field)
   end
   local function fresh(self, input)
      local p = make(self, input)
      p.from = input:size():totable()
      p.dimensions = #p.from
      for _, name in ipairs{'stride', 'padding', 'dilation', 'kernel', 'adjust'} do
         p[name] = p[name] and aten.list(p[name])
      end
      return p
   end
   return assert(loadstring(source:format(table.concat(compare), table.concat(record)), '=nn.shared.plan'))(
      setmetatable({}, {__mode = 'k'}), fresh, fits, dtype)
end

return plan
