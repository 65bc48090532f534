-- The interpreter of the operator table: each row of torch/ops/*.lua becomes torch.name and a method.
--
-- A row: {name = 'add' or {'mod', 'cmod'}, types = a list of element types, forms (of the function), methods (forms of
-- the method where they differ)}. Forms are described in torch.forms. With `inplace` the method's result is `self`;
-- with `nomethod` there is no method. A function whose arguments no form describes stands as `method`, and as `call` if
-- torch.name exists too.
local elements = require 'torch.elements'
local object = require 'torch.object'
local forms = require 'torch.forms'

local rooms = {'pointwise', 'maths', 'reduce', 'order', 'compare', 'blas', 'pick', 'matrix', 'solve', 'cholesky',
   'eigen', 'orthogonal', 'convolution', 'histogram'}

local function typeset(types)
   local has = {[false] = false}
   for _, name in ipairs(types) do
      has[elements[name].id] = true
   end
   return has
end

local function install(torch, row, alone)
   local has = typeset(row.types)
   local names = type(row.name) == 'table' and row.name or {row.name}
   for _, name in ipairs(names) do
      if row.forms then
         torch[name] = forms.compile(name, row.forms, has, false)
      elseif row.call then
         torch[name] = row.call
      end
      local list = row.methods or row.forms
      local method = row.method or list and forms.compile(name, list, has, row.methods ~= nil or row.inplace)
      for id = 0, elements.count - 1 do
         if has[id] and row.nomethod then
            alone[id][name] = true
         elseif has[id] then
            object.metatables[id][name] = method
         end
      end
   end
end

-- Returns the names of functions that are no methods, for each element type.
return function(torch)
   local alone = {}
   for id = 0, elements.count - 1 do
      alone[id] = {}
   end
   for _, room in ipairs(rooms) do
      for _, row in ipairs(require('torch.ops.' .. room)) do
         install(torch, row, alone)
      end
   end
   require('torch.arithmetic')(torch)
   return alone
end
