-- nn.utils: what modules do to nested tables of tensors, and to views.
local utils = {}
nn.utils = utils

-- A storage of type `typename` with the elements of `storage`: always the same one for the same original.
local function convertstorage(storage, typename, cache)
   local key = torch.pointer(storage)
   local converted = cache[key]
   if not converted then
      converted = torch.getconstructortable(typename)(storage:size()):copy(storage)
      cache[key] = converted
      cache[converted] = storage -- keeps the original, and with it its address, while the cache is used
   end
   return converted
end

local function convert(tensor, typename, cache)
   local constructor = torch.getconstructortable(typename)
   if not constructor then
      if cutorch then
         tensor:type(typename) -- says what a GPU would take
      end
      error(string.format('there is no tensor type %s%s', typename,
         typename:find('Cuda') and ' (no GPU support is loaded: require "cutorch" first)' or ''), 0)
   end
   local storage = tensor:storage()
   if not storage or tensor:dim() == 0 then
      return constructor()
   end
   local converted = convertstorage(storage, (typename:gsub('Tensor$', 'Storage')), cache)
   return constructor():set(converted, tensor:storageOffset(), tensor:size(), tensor:stride())
end

-- Convert tensors, tables of tensors and modules to a tensor type. What shared memory still does, as far as it was
-- converted with one `cache`.
function utils.recursiveType(param, typename, cache)
   cache = cache or {}
   if torch.isTensor(param) then
      if torch.typename(param) ~= typename then
         local key = torch.pointer(param)
         cache[key] = cache[key] or {convert(param, typename, cache), param}
         return cache[key][1]
      end
   elseif torch.isTypeOf(param, 'nn.Module') or torch.isTypeOf(param, 'nn.Criterion') then
      param:type(typename, cache)
   elseif type(param) == 'table' then
      for key, value in pairs(param) do
         param[key] = utils.recursiveType(value, typename, cache)
      end
   end
   return param
end

-- Make t1 (nested like t2) as large as t2.
function utils.recursiveResizeAs(t1, t2)
   if torch.type(t2) == 'table' then
      t1 = torch.type(t1) == 'table' and t1 or {t1}
      for key in pairs(t2) do
         t1[key], t2[key] = utils.recursiveResizeAs(t1[key], t2[key])
      end
      for key in pairs(t1) do
         if t2[key] == nil then
            t1[key] = nil
         end
      end
   elseif torch.isTensor(t2) then
      t1 = torch.isTensor(t1) and t1 or t2.new()
      t1:resize(t2:size())
   else
      error('expecting nested tensors or tables. Got ' .. torch.type(t1) .. ' and ' .. torch.type(t2) .. ' instead')
   end
   return t1, t2
end

function utils.recursiveFill(t, value)
   if torch.type(t) == 'table' then
      for key, inner in pairs(t) do
         t[key] = utils.recursiveFill(inner, value)
      end
   elseif torch.isTensor(t) then
      t:fill(value)
   else
      error('expecting tensor or table thereof. Got ' .. torch.type(t) .. ' instead')
   end
   return t
end

-- t1 = t1 + value * t2 (value: 1)
function utils.recursiveAdd(t1, value, t2)
   if not t2 then
      value, t2 = 1, value
   end
   if torch.type(t2) == 'table' then
      t1 = torch.type(t1) == 'table' and t1 or {t1}
      for key in pairs(t2) do
         t1[key], t2[key] = utils.recursiveAdd(t1[key], value, t2[key])
      end
   elseif torch.isTensor(t1) and torch.isTensor(t2) then
      t1:add(value, t2)
   else
      error('expecting nested tensors or tables. Got ' .. torch.type(t1) .. ' and ' .. torch.type(t2) .. ' instead')
   end
   return t1, t2
end

-- t1 = t2, keeping t1's tensors.
function utils.recursiveCopy(t1, t2)
   if torch.type(t2) == 'table' then
      t1 = torch.type(t1) == 'table' and t1 or {t1}
      for key in pairs(t2) do
         t1[key], t2[key] = utils.recursiveCopy(t1[key], t2[key])
      end
   elseif torch.isTensor(t2) then
      t1 = torch.isTensor(t1) and t1 or t2.new()
      t1:resize(t2:size()):copy(t2)
   else
      error('expecting nested tensors or tables. Got ' .. torch.type(t1) .. ' and ' .. torch.type(t2) .. ' instead')
   end
   return t1, t2
end

-- A view of t with a dimension of size 1 put in at `dim` (1).
function utils.addSingletonDimension(...)
   local view, t, dim
   if select('#', ...) < 3 then
      t, dim = ...
   else
      view, t, dim = ...
   end
   if not torch.isTensor(t) then
      error('input tensor expected', 2)
   end
   dim = dim or 1
   if dim < 1 or dim > t:dim() + 1 then
      error(string.format('invalid dimension: %d. Input has %d dimensions', dim, t:dim()), 2)
   end
   local size, stride = torch.LongStorage(t:dim() + 1), torch.LongStorage(t:dim() + 1)
   for d = 1, t:dim() + 1 do
      local from = d > dim and d - 1 or d
      size[d] = d == dim and 1 or t:size(from)
      stride[d] = d == dim and 1 or t:stride(from)
   end
   view = view or t.new()
   return view:set(t:storage(), t:storageOffset(), size, stride)
end

-- Make `output` a view of `input`, copied first when it is not contiguous.
function utils.contiguousView(output, input, ...)
   output = output or input.new()
   if input:isContiguous() then
      output:view(input, ...)
   else
      output:resize(input:size()):copy(input)
      output:view(output, ...)
   end
   return output
end

-- Empty the fields of `self` that are named: tensors keep their type, tables become {}, the rest goes.
function utils.clear(self, ...)
   local names = {...}
   if torch.type(names[1]) == 'table' then
      names = names[1]
   end
   for _, name in ipairs(names) do
      local value = self[name]
      if torch.isTensor(value) then
         value:set()
      elseif type(value) == 'table' then
         self[name] = {}
      elseif value ~= nil then
         self[name] = nil
      end
   end
   return self
end

return utils
