-- A small differentiating runtime of the kind that Torch7 programs brought along: while it records, every function of
-- torch, every method of the float and double tensors and every operator is replaced by one that notes the call. What
-- has no gradient here is refused, as long as it is called from outside; numbers have metamethods too.
local tape = {}

local Value = {}

local function isvalue(x)
   return getmetatable(x) == Value
end

local function raw(x)
   if isvalue(x) then
      return rawget(x, 'raw')
   elseif type(x) == 'table' and getmetatable(x) == nil then
      local plain = {}
      for key, inner in pairs(x) do
         plain[key] = raw(inner)
      end
      return plain
   end
   return x
end
tape.raw = raw

local nodes, depth = nil, 0

local function wrap(result)
   return setmetatable({raw = result}, Value)
end

local function recorded(inputs)
   for i = 1, inputs.n do
      local input = inputs[i]
      if isvalue(input) then
         return true
      elseif type(input) == 'table' and getmetatable(input) == nil then
         for _, inner in pairs(input) do
            if isvalue(inner) then
               return true
            end
         end
      end
   end
   return false
end

-- Call f; note it if a recorded value is among the inputs and nobody who is noted already calls.
local function apply(entry, ...)
   local inputs = {n = select('#', ...), ...}
   local plain = {}
   for i = 1, inputs.n do
      plain[i] = raw(inputs[i])
   end
   depth = depth + 1
   local outermost = depth == 1 and nodes and recorded(inputs)
   if outermost and entry.unsupported then
      depth = depth - 1
      error('function ' .. entry.name .. ' has no gradient here')
   end
   local results = {pcall(entry.f, unpack(plain, 1, inputs.n))}
   depth = depth - 1
   if not results[1] then
      error(results[2], 0)
   elseif not outermost then
      return unpack(results, 2)
   end
   local output = wrap(results[2])
   nodes[#nodes + 1] = {entry = entry, inputs = inputs, output = output}
   return output
end
tape.apply = apply

for _, name in ipairs{'add', 'sub', 'mul', 'div', 'pow', 'unm'} do
   local f = loadstring('local a, b = ... return ' ..
      ({add = 'a + b', sub = 'a - b', mul = 'a * b', div = 'a / b', pow = 'a ^ b', unm = '-a'})[name])
   local entry = {name = name, f = f, operator = name}
   Value['__' .. name] = function(a, b)
      if name == 'unm' then
         return apply(entry, a)
      end
      return apply(entry, a, b)
   end
end

function Value:__index(key)
   local tensor = rawget(self, 'raw')
   if type(key) ~= 'string' then
      return apply({name = 'index', f = function(x, k) return x[k] end, operator = 'index'}, self, key)
   end
   return tensor[key]
end

local numbers = {}
for _, name in ipairs{'add', 'sub', 'mul'} do
   numbers['__' .. name] = function(a, b)
      if type(a) == 'number' then
         if name == 'sub' then
            return -b + a
         end
         return name == 'add' and b + a or b * a
      end
      return name == 'add' and a + b or name == 'sub' and a - b or a * b
   end
end

local function shaped(g, x)
   if not torch.isTensor(x) then
      return torch.isTensor(g) and g:sum() or g
   elseif not torch.isTensor(g) then
      return x.new(x:size()):fill(g)
   end
   return g:nElement() == x:nElement() and g:viewAs(x) or g
end

local function times(a, b)
   return torch.isTensor(a) and torch.isTensor(b) and torch.cmul(a, b) or a * b
end

local sum = {function(g, _, x, dim)
   if dim then
      return torch.expandAs(g, x)
   end
   return x.new(x:size()):fill(g)
end}

-- By name: the gradient for each input, given that of the output, the output and the inputs.
local gradients = {
   add = {function(g, _, x) return shaped(g, x) end, function(g, _, _, y) return shaped(g, y) end},
   sub = {function(g, _, x) return shaped(g, x) end, function(g, _, _, y) return shaped(-g, y) end},
   cmul = {function(g, _, _, y) return times(g, y) end, function(g, _, x) return times(g, x) end},
   div = {function(g, _, _, y) return g / y end},
   unm = {function(g) return -g end},
   pow = {function(g, _, x, y) return times(times(g, y), torch.pow(x, y - 1)) end},
   exp = {function(g, y) return times(g, y) end},
   log = {function(g, _, x) return torch.cdiv(g, x) end},
   tanh = {function(g, y) return times(g, 1 - torch.cmul(y, y)) end},
   sum = sum,
   mean = {function(g, _, x, dim)
      return dim and torch.expandAs(g, x) / x:size(dim) or x.new(x:size()):fill(g / x:nElement())
   end},
   t = {function(g) return torch.t(g) end},
   view = {function(g, _, x) return torch.view(g:contiguous(), torch.size(x)) end},
   narrow = {function(g, _, x, dim, index, size)
      local out = g.new(x:size()):zero()
      out:narrow(dim, index, size):copy(g)
      return out
   end},
   cat = {function(g, _, list, dim)
      local out, at = {}, 1
      for i = 1, #list do
         local size = torch.size(list[i], dim)
         out[i], at = torch.narrow(g, dim, at, size), at + size
      end
      return out
   end},
   index = {function(g, _, x, key)
      local out = x.new(torch.size(x)):fill(0)
      out[key] = g
      return out
   end},
   mul = {
      function(g, _, a, b)
         if not torch.isTensor(a) or not torch.isTensor(b) then
            return torch.isTensor(a) and times(g, b) or torch.sum(times(g, b))
         end
         return torch.nDimension(b) == 2 and g * torch.t(b) or torch.ger(g, b)
      end,
      function(g, _, a, b)
         if not torch.isTensor(a) or not torch.isTensor(b) then
            return torch.isTensor(b) and times(g, a) or torch.sum(times(g, a))
         end
         return torch.t(a) * g
      end,
   },
}
gradients.mm, gradients.mv = gradients.mul, gradients.mul

local free = {isTensor = true, typename = true, type = true, size = true, nDimension = true, nElement = true,
   dim = true, new = true, contiguous = true, getmetatable = true, setmetatable = true}

-- {table, name, original, replacement} for every function that is replaced.
local replaced

local function overload(place, name, label)
   local old = place[name]
   if type(old) ~= 'function' or free[name] then
      return
   end
   local operator = name:match('^_*(.*)$')
   local entry = {name = label .. name, f = old, operator = gradients[operator] and operator,
      unsupported = not gradients[operator]}
   replaced[#replaced + 1] = {place, name, old, function(...) return apply(entry, ...) end}
end

local function prepare()
   for name in pairs{narrow = 1, t = 1, size = 1, nDimension = 1, nElement = 1} do -- methods that torch lacks
      torch[name] = function(self, ...) return self[name](self, ...) end
   end
   replaced = {}
   for name in pairs(torch) do
      overload(torch, name, 'torch.')
   end
   for _, kind in ipairs{'FloatTensor', 'DoubleTensor', 'CudaTensor'} do
      if torch[kind] ~= nil then
         local metatable = torch.getmetatable('torch.' .. kind)
         for name, f in pairs(getmetatable(torch[kind])) do
            local operator = name:match('^__(%l+)$')
            if type(f) == 'function' and (name:sub(1, 2) ~= '__' or gradients[operator]) then
               overload(metatable, name, kind .. '.')
            end
         end
      end
   end
end

local function install(which)
   for _, one in ipairs(replaced) do
      rawset(one[1], one[2], one[which])
   end
end

local function add(sums, value, gradient)
   if isvalue(value) then
      local before = sums[value]
      sums[value] = before == nil and gradient or before + gradient
   elseif type(value) == 'table' and getmetatable(value) == nil and type(gradient) == 'table' then
      for key, inner in pairs(value) do
         add(sums, inner, gradient[key])
      end
   end
end

local function values(parameters)
   local out = {}
   for key, value in pairs(parameters) do
      out[key] = type(value) == 'table' and values(value) or wrap(value)
   end
   return out
end

local function collect(parameters, sums)
   local out = {}
   for key, value in pairs(parameters) do
      if isvalue(value) then
         out[key] = sums[value]
      else
         out[key] = collect(value, sums)
      end
   end
   return out
end

-- A function that returns the gradients by its first argument (a table), and what f returns. `used` gets the nodes.
function tape.grad(f, used)
   return function(parameters, ...)
      if not replaced then
         prepare()
      end
      local inputs = values(parameters)
      nodes, depth = {}, 0
      debug.setmetatable(1.0, numbers)
      install(4)
      local ok, answer = pcall(f, inputs, ...)
      install(3)
      local noted = nodes
      nodes = nil
      if not ok then
         debug.setmetatable(1.0, nil)
         error(answer, 0)
      end
      local sums = {[answer] = 1}
      for i = #noted, 1, -1 do
         local node = noted[i]
         local g = sums[node.output]
         if g ~= nil then
            local plain = raw{unpack(node.inputs, 1, node.inputs.n)}
            for k, gradient in pairs(node.entry.gradients or gradients[node.entry.operator] or {}) do
               if node.inputs[k] ~= nil then
                  add(sums, node.inputs[k], gradient(g, raw(node.output), unpack(plain, 1, node.inputs.n)))
               end
            end
         end
      end
      debug.setmetatable(1.0, nil)
      if used then
         for i, node in ipairs(noted) do
            used[i] = node
         end
      end
      return collect(inputs, sums), raw(answer)
   end
end

-- A module of nn as a function of its parameters and its input, whose memory it then uses.
function tape.functional(module)
   local function share(parameters)
      for i, own in ipairs((module:parameters())) do
         if own ~= parameters[i] then
            own:view(parameters[i], parameters[i]:size())
         end
      end
   end
   local entry = {name = 'model', f = function(parameters, x)
      share(parameters)
      return module:forward(x)
   end}
   entry.gradients = {function(g, _, parameters, x)
      share(parameters)
      module:zeroGradParameters()
      module:backward(x, g)
      local _, own = module:parameters()
      local copies = {}
      for i, gradient in ipairs(own) do
         copies[i] = gradient:clone()
      end
      return copies
   end, function(g, _, _, x)
      return module:updateGradInput(x, g):clone()
   end}
   return function(parameters, x)
      return apply(entry, parameters, x)
   end, (module:parameters())
end

return tape
