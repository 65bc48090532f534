-- The interpreter of the operator table: each row of torch/ops/*.lua becomes torch.name and a method.
--
-- A row: {name = 'add' or {'fmod', 'mod'}, types = a list of element types, forms, methods (forms of the method where
-- it needs others)}. Forms are described in torch.forms. With `nomethod` there is no method; with `host` it works on
-- pointers into host memory; with `unhalved` no halves have it. A method whose arguments no form describes stands as
-- `method`; torch has no function of that name.
local elements = require 'torch.elements'
local object = require 'torch.object'
local forms = require 'torch.forms'
local arguments = require 'torch.arguments'

local operations = {}

local rooms = {'create', 'shape', 'pointwise', 'maths', 'reduce', 'order', 'compare', 'blas', 'pick', 'matrix', 'solve',
   'cholesky', 'eigen', 'orthogonal', 'convolution', 'histogram', 'random'}
-- Halves have few operations in Torch7. Of a GPU they have nearly all of them: those of these rooms that floats have.
local halved = {shape = true, pointwise = true, maths = true, reduce = true, order = true, compare = true, blas = true,
   pick = true, matrix = true}
local HALF, FLOAT = elements.Half.id, elements.Float.id

local function typeset(types)
   local has = {[false] = false}
   for _, name in ipairs(types) do
      has[elements[name].id] = true
   end
   return has
end

-- The names of a row.
local function names(row)
   return type(row.name) == 'table' and row.name or {row.name}
end

-- The methods of a row under one of its names, by element type; `shift`: see torch.forms.
local function methods(row, name, shift)
   if row.method then
      return setmetatable({}, {__index = function() return arguments.public(row.method) end})
   end
   return forms.methods(name, row.methods or row.forms, shift)
end

local function install(torch, row, alone)
   local has = typeset(row.types)
   for _, name in ipairs(names(row)) do
      if row.forms then
         torch[name] = forms.compile(name, row.forms, has)
      end
      local each = not row.nomethod and methods(row, name)
      for id = 0, elements.count - 1 do
         if has[id] and each then
            object.metatables[id][name] = each[id]
         elseif has[id] then
            alone[id][name] = true
         end
      end
   end
end

-- Returns the names of functions that are no methods, for each element type.
local function all(torch)
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

-- What CUDA's types have where they are the CPU's, halves as well: functions and halves' methods, by name.
function operations.halves()
   local functions, halves = {}, {}
   for _, room in ipairs(rooms) do
      for _, row in ipairs(halved[room] and require('torch.ops.' .. room) or {}) do
         local has = typeset(row.types)
         if has[FLOAT] and not has[HALF] and not row.unhalved then
            has[HALF] = true
            for _, name in ipairs(names(row)) do
               functions[name] = row.forms and forms.compile(name, row.forms, has)
               halves[name] = not row.nomethod and methods(row, name)[HALF] or nil
            end
         end
      end
   end
   return functions, halves
end

-- A row for tensors on a device. The functions of one that works on pointers (`host`) go through `onhost`, with the
-- number of results that lead their arguments.
local function moved(row, onhost)
   if not row.host then
      return row
   end
   local forms_ = {}
   for i = 1, #row.forms, 2 do
      local _, results = row.forms[i]:gsub('%*', '')
      forms_[i], forms_[i + 1] = row.forms[i], onhost(row.forms[i + 1], results)
   end
   return setmetatable({forms = forms_, methods = row.methods and forms_}, {__index = row})
end

-- Give the tensor types of a device the methods of all operations, and torch's functions their twins for those types.
function operations.extend(torch, onhost)
   for _, room in ipairs(rooms) do
      for _, plain in ipairs(require('torch.ops.' .. room)) do
         local row, has = moved(plain, onhost), {[false] = false}
         for id in pairs(typeset(row.types)) do
            if id then
               has[id + elements.DEVICE] = true
            end
         end
         has[HALF + elements.DEVICE] = has[HALF + elements.DEVICE]
            or halved[room] and not row.unhalved and has[FLOAT + elements.DEVICE] or nil
         for _, name in ipairs(names(row)) do
            if row.forms then
               forms.twin(torch[name], forms.compile(name, row.forms, has, elements.DEVICE))
            end
            local each = not row.nomethod and methods(row, name, elements.DEVICE)
            for id = elements.DEVICE, elements.DEVICE + elements.count - 1 do
               if has[id] and each then
                  object.metatables[id][name] = each[id]
               end
            end
         end
      end
   end
end

return setmetatable(operations, {
   __call = function(_, torch)
      return all(torch)
   end
})
