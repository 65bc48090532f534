-- Functions for bridge.legacy: calls in which nn's indices count from 0, classes written in Python, kinds of objects.
--
-- `base` is the first index in the inputs and targets of modules and criterions. It is 1, as in Lua, except during a
-- call from Python that asks for 0. Only the classes listed below read indices. Each shifts a copy of them and then
-- runs with base 1, so that the functions it calls do not shift again. Numbers below 0 are not shifted.
require 'nn'

local legacy = {}
local base = 1

-- Types too small to add 1 to an index: 255 is the largest Byte.
local narrow = {
   ['torch.ByteTensor'] = true, ['torch.CharTensor'] = true, ['torch.ShortTensor'] = true, ['torch.IntTensor'] = true,
}

local function copied(tensor)
   return narrow[tensor:type()] and tensor:long() or tensor:clone()
end

-- Indices (a number, a tensor, a list), each plus 1.
local function index(value)
   if type(value) == 'number' then
      return value < 0 and value or value + 1
   elseif torch.isTensor(value) and value:nElement() > 0 then
      local tensor = copied(value)
      return tensor:add(tensor:ge(0):typeAs(tensor))
   elseif type(value) == 'table' and not torch.typename(value) then
      local list = {}
      for i, inner in ipairs(value) do
         list[i] = index(inner)
      end
      return list
   end
   return value
end

-- Like `index`, but shifts -1 too: it marks the end of a list, which is 0 in Lua.
local function ended(value)
   return torch.isTensor(value) and value:nElement() > 0 and copied(value):add(1) or value
end

local function second(input)
   return {input[1], index(input[2])}
end

local function keys(input)
   return {index(input[1]), input[2], input[3]}
end

-- A sparse matrix with the columns index, value or sample, index, value: `by` is added to all but the value.
local function columns(input, by)
   if type(input) == 'table' then
      local list = {}
      for i, entries in ipairs(input) do
         list[i] = columns(entries, by)
      end
      return list
   elseif not torch.isTensor(input) or input:nElement() == 0 then
      return input
   end
   local tensor = input:clone()
   local last = tensor:dim()
   tensor:narrow(last, 1, tensor:size(last) - 1):add(by)
   return tensor
end

local function sparse(input)
   return columns(input, 1)
end

local function itself(input)
   return input
end

-- For each class, the argument of its methods that has indices, and the function that shifts them. The indices of
-- nn.PartialLinear are not in its input.
local readers = {
   {'LookupTable', 'input', index},
   {'OneHot', 'input', index},
   {'Index', 'input', second},
   {'IndexLinear', 'input', keys},
   {'SparseLinear', 'input', sparse},
   {'PartialLinear', 'input', itself},
   {'ClassNLLCriterion', 'target', index},
   {'SpatialClassNLLCriterion', 'target', index},
   {'MultiMarginCriterion', 'target', index},
   {'ClassSimplexCriterion', 'target', index},
   {'MultiLabelMarginCriterion', 'target', ended},
}
local methods = {
   'updateOutput', 'updateGradInput', 'accGradParameters', 'accUpdateGradParameters', 'sharedAccUpdateGradParameters',
   'renorm', 'transformTarget',
}

local function counted(...)
   base = 0
   return ...
end

local function reader(original, argument, shift)
   return function(self, input, other, ...)
      if base == 1 then
         return original(self, input, other, ...)
      end
      base = 1
      if argument == 'input' then
         input = shift(input)
      else
         other = shift(other)
      end
      return counted(original(self, input, other, ...))
   end
end

for _, row in ipairs(readers) do
   local class = torch.getmetatable('nn.' .. row[1])
   for _, name in ipairs(methods) do
      local original = class and rawget(class, name)
      if original then
         local target = name == 'transformTarget' and 'input' or row[2]
         class[name] = reader(original, target, row[3])
      end
   end
end

-- The gradient of a sparse input has the input's indices.
local SparseLinear = torch.getmetatable('nn.SparseLinear')
if SparseLinear then
   local updateGradInput = SparseLinear.updateGradInput
   function SparseLinear:updateGradInput(input, gradOutput)
      local gradient = updateGradInput(self, input, gradOutput)
      if base == 0 and self.doGradInput then
         self.gradInput = columns(gradient, -1)
         return self.gradInput
      end
      return gradient
   end
end

-- ---- calls

local function finish(before, ...)
   base = before
   return ...
end

-- Call f(...) with the base `wanted`. After an error, the caller must restore the base.
function legacy.run(wanted, f, ...)
   local before = base
   base = wanted
   return finish(before, f(...))
end

-- Call object:name(...) with the base `wanted`.
function legacy.call(wanted, object, name, ...)
   local before = base
   base = wanted
   return finish(before, object[name](object, ...))
end

-- Call the method `name` of the class `typename` itself, not that of a child class, for Python's super().
function legacy.inherited(wanted, typename, object, name, ...)
   local before = base
   base = wanted
   return finish(before, torch.getmetatable(typename)[name](object, ...))
end

function legacy.restore(before)
   base = before
end

-- ---- objects and classes

-- The address and class name of an object, by which Python finds its own object for it.
function legacy.identify(object)
   return string.format('%p', object), torch.typename(object)
end

-- The names of a class and of its parents, the nearest first.
function legacy.lineage(typename)
   local names, metatable = {}, torch.getmetatable(typename)
   while metatable and rawget(metatable, '__typename') do
      names[#names + 1] = metatable.__typename
      metatable = getmetatable(metatable)
   end
   return names
end

function legacy.construct(typename, ...)
   if typename == 'nn.gModule' then
      require 'nngraph'
   end
   local constructor = torch.getconstructortable(typename)
   if not constructor then
      error('there is no Torch7 class ' .. typename, 0)
   end
   return constructor(...)
end

-- An object of `typename`, a class written in Python, with the fields that its parent's constructor sets.
function legacy.construct_as(typename, parentname, ...)
   local object = torch.factory(typename)()
   torch.getmetatable(parentname).__init(object, ...)
   return object
end

local places = {} -- receives the constructors of classes written in Python, from torch.class

-- Define (or redefine) a class whose methods are Python functions.
function legacy.define(typename, parentname, functions)
   local class = torch.getmetatable(typename)
   if not class then
      class = torch.class(typename, parentname, places)
   elseif getmetatable(class).__typename ~= parentname then
      error(string.format('%s is a %s here; a class of this name that derives from %s needs another name', typename,
         getmetatable(class).__typename, parentname), 0)
   end
   for name, f in pairs(functions) do
      class[name] = f
   end
end

-- The class names of an object and of all objects in it, sorted.
function legacy.typenames(object)
   local names, seen = {}, {}
   local function visit(value)
      if type(value) ~= 'table' or seen[value] then
         return
      end
      seen[value] = true
      names[torch.typename(value) or 'table'] = true
      for _, inner in next, value do
         visit(inner)
      end
   end
   visit(object)
   local list = {}
   for name in pairs(names) do
      list[#list + 1] = name
   end
   table.sort(list)
   return list
end

-- A deep copy.
function legacy.copy(object)
   if object.clone then
      return object:clone()
   end
   return torch.deserialize(torch.serialize(object))
end

-- Train an nn.StochasticGradient on a list of {input, target}.
function legacy.train(trainer, examples)
   function examples.size()
      return #examples
   end
   trainer:train(examples)
end

-- Call an algorithm of optim once. Returns its configuration and state as it left them, then its results.
function legacy.optimise(algorithm, opfunc, x, config, state)
   local function after(...)
      return config, state, ...
   end
   return after(algorithm(opfunc, x, config, state))
end

return legacy
