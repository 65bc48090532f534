-- Elements chosen by index tensors and masks: index*, gather, scatter, masked*, nonzero.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local arguments = require 'torch.arguments'
local types = require 'torch.ops.types'

local C, loops = native.C, kernels.loops
local pointer, scratch = object.tensor, object.scratch
local bad, raise, integer, tensor = arguments.bad, arguments.raise, arguments.integer, arguments.tensor
local BYTE, LONG = elements.Byte.id, elements.Long.id
local count = ffi.new('int64_t[1]')

local methods = {}

-- A tensor of indices (LONG) or a mask (BYTE) for elements of type dtype; beside those of a device it may be there,
-- too.
local function beside(argument, value, id, dtype)
   local found = object.dtype(value)
   return found == elements.beside(id, dtype) and pointer(value) or tensor(argument, value, id)
end

-- How many arguments a method takes; `expected` says which, with %s for the tensor's type.
local function exactly(wanted, self, expected, n)
   if n ~= wanted then
      raise((expected:gsub('%%s', elements[object.dtype(self) or object.default].tensortype)))
   end
end

local function vector(index)
   if index.nDimension ~= 1 then
      bad(3, 'Index is supposed to be a vector')
   end
end

local function within(d, t)
   if d < 1 or d > t.nDimension then
      bad(4, 'Indexing dim %d is out of bounds of tensor', d)
   end
   return d - 1
end

-- One slice along d, of a vector all of it.
local function slice(userdata, d)
   return pointer(userdata).nDimension > 1 and userdata:select(d + 1, 1) or userdata
end

-- What a loop over slices along d found wrong. Torch7 selects them one by one, or reads a vector's elements.
local function sliced(code, r, a, chosen, d, indices)
   if code == C.BR_INDEX then
      arguments.notedamong(indices, chosen.size[d], 'out of range')
      bad(chosen.nDimension > 1 and 3 or 2, 'out of range')
   elseif code == C.BR_COUNT and d < pointer(r).nDimension then
      kernels.counts({'tensor', 'src'}, slice(r, d), slice(a, d))
   end
   kernels.fault(code, r, a)
end

-- index([result,] source, dimension, indices); as a method, the source is self unless a source is given. Where the
-- result lies on the source, it gets its sizes before that is read.
local function select_(r, source, d, indices)
   local from, chosen = pointer(source), pointer(indices)
   vector(chosen)
   d = within(d, from)
   local to = pointer(r)
   ffi.copy(scratch, from.size, from.nDimension * 8)
   scratch[d] = chosen.size[0]
   geometry.resize(to, from.nDimension)
   local code = loops.index(C.BR_INDEX_SELECT, r, source, d, indices, 0)
   if code == C.BR_INDEX and d == 0 and geometry.contiguous(from) and geometry.contiguous(to) then
      arguments.notedamong(indices, from.size[d], 'index out of range')
      raise('index out of range')
   end
   sliced(code, r, source, from, d, indices)
end

function methods.index(...)
   local n = select('#', ...)
   local self, a, b, c = ...
   local dtype = object.dtype(self) or object.default
   if n == 3 then
      tensor(1, self)
      a = integer(2, a, n)
      beside(3, b, LONG, dtype)
      local r = object.newtensor(dtype)
      select_(r, self, a, b)
      return r
   end
   exactly(4, self, '%s, number, torch.LongTensor | %s, %s, number, torch.LongTensor expected', n)
   tensor(2, a, dtype)
   b = integer(3, b, n)
   beside(4, c, LONG, dtype)
   tensor(1, self)
   select_(self, a, b, c)
   return c
end

-- indexCopy and indexAdd return what stands last on the stack: the source.
local function into(op)
   return function(...)
      local n = select('#', ...)
      local self, d, indices, source = ...
      exactly(4, self, '%s, number, torch.LongTensor, %s expected', n)
      local dtype = object.dtype(self) or object.default
      d = integer(2, d, n)
      local index = beside(3, indices, LONG, dtype)
      local from = tensor(4, source, dtype)
      local to = tensor(1, self)
      vector(index)
      d = within(d, from)
      if index.size[0] ~= from.size[d] then
         bad(4, 'Number of indices should be equal to source:size(dim)')
      end
      sliced(loops.index(op, self, source, d, indices, 0), self, source, to, d, indices)
      return source
   end
end
methods.indexCopy = into(C.BR_INDEX_COPY)
methods.indexAdd = into(C.BR_INDEX_ADD)

-- A number among the arguments.
local function value(argument, given, n)
   return arguments.number(given) or arguments.missing(argument, 'number', given, n)
end

function methods.indexFill(...)
   local n = select('#', ...)
   local self, d, indices, v = ...
   exactly(4, self, '%s, number, torch.LongTensor, number expected', n)
   d = integer(2, d, n)
   local index = beside(3, indices, LONG, object.dtype(self) or object.default)
   local filler = value(4, v, n)
   local to = tensor(1, self)
   vector(index)
   d = within(d, to)
   sliced(loops.index(C.BR_INDEX_FILL, self, nil, d, indices, filler), self, nil, to, d, indices)
   return v
end

-- 'tensor [2 x 3], index [2]'
local function named(names, ...)
   local parts = {}
   for i = 1, select('#', ...) do
      parts[i] = names[i] .. ' ' .. geometry.describe((select(i, ...)))
   end
   local last = table.remove(parts)
   return table.concat(parts, ', ') .. ' and ' .. last
end

-- Lines of all these tensors along d lie beside each other.
local function aligned(names, d, first, ...)
   for k = 0, first.nDimension - 1 do
      for i = 1, k == d and 0 or select('#', ...) do
         if select(i, ...).size[k] ~= first.size[k] then
            raise('Expected %s to have the same size in dimension %d', named(names, first, ...), d)
         end
      end
   end
end

-- An offset along which there is a dimension.
local function along(argument, d, t)
   if d > t.nDimension then
      arguments.beyond(argument, d, 1, t.nDimension, 'Index dimension is out of bounds')
   elseif d < 1 then
      bad(2, 'dimension %d out of range of %dD tensor', d, t.nDimension)
   end
   return d - 1
end

local function gather(r, source, d, indices)
   local from, index = pointer(source), pointer(indices)
   if not r then
      r = object.newtensor(from.dtype)
      geometry.resizeas(pointer(r), index)
   end
   local to = pointer(r)
   if from.nDimension ~= to.nDimension then
      bad(2, 'Input tensor must have same dimensions as output tensor')
   elseif d <= to.nDimension and index.nDimension ~= from.nDimension then
      bad(4, 'Index tensor must have same dimensions as input tensor')
   end
   d = along(3, d, to)
   aligned({'tensor', 'src', 'index'}, d, to, from, index)
   local code = loops.gather(r, source, d, indices)
   if code == C.BR_INDEX then
      arguments.notedamong(indices, from.size[d], 'Invalid index in gather')
      raise('Invalid index in gather')
   end
   kernels.fault(code, r, source)
   return r
end

local function scatter(r, d, indices, source)
   local to, index, v = pointer(r), pointer(indices), arguments.number(source)
   if d <= to.nDimension and index.nDimension ~= to.nDimension then
      bad(3, 'Index tensor must have same dimensions as output tensor')
   elseif d <= to.nDimension and not v and pointer(source).nDimension ~= to.nDimension then
      bad(4, 'Input tensor must have same dimensions as output tensor')
   end
   d = along(2, d, to)
   if v then
      aligned({'tensor', 'index'}, d, to, index)
   else
      aligned({'tensor', 'src', 'index'}, d, to, pointer(source), index)
   end
   local code = loops.scatter(r, not v and source or nil, d, indices, v or 0)
   if code == C.BR_INDEX then
      arguments.notedamong(indices, to.size[d], 'Invalid index in scatter')
      raise('Invalid index in scatter')
   end
   kernels.fault(code, r)
   return r
end

-- What a loop over a mask found wrong: its values, too few elements, another number of elements.
local function masked(code, names, r, a)
   if code == C.BR_VALUE then
      raise('Mask tensor can take 0 and 1 values only')
   elseif code == C.BR_INDEX then
      raise('Number of elements of src < number of ones in mask')
   elseif code == C.BR_COUNT then
      kernels.counts(names, r, a)
   end
   kernels.fault(code, r, a)
end

function methods.maskedFill(...)
   local n = select('#', ...)
   local self, mask, v = ...
   exactly(3, self, '%s, torch.ByteTensor, number expected', n)
   beside(2, mask, BYTE, object.dtype(self) or object.default)
   local filler = value(3, v, n)
   tensor(1, self)
   masked(loops.masked_fill(self, mask, filler), {'tensor', 'mask'}, self, mask)
   return v
end

function methods.maskedCopy(...)
   local self, mask, source = ...
   exactly(3, self, '%s, torch.ByteTensor, %s expected', select('#', ...))
   local dtype = object.dtype(self) or object.default
   beside(2, mask, BYTE, dtype)
   tensor(3, source, dtype)
   if geometry.elements(tensor(1, self)) ~= geometry.elements(pointer(mask)) then
      raise('Number of elements of destination tensor != Number of elements in mask')
   end
   masked(loops.masked_copy(self, mask, source), nil, self, mask)
   return self
end

local function selectMasked(r, source, mask)
   local code = loops.mask_count(mask, count)
   if code == C.BR_OK then
      geometry.resize1(pointer(r), tonumber(count[0]))
      code = loops.masked_select(r, source, mask)
   end
   masked(code, {'src', 'mask'}, source, mask)
end

-- maskedSelect([result,] source, mask): what stands last on the stack comes back.
function methods.maskedSelect(...)
   local n = select('#', ...)
   local self, a, b = ...
   local dtype = object.dtype(self) or object.default
   if n == 2 then
      tensor(1, self)
      beside(2, a, BYTE, dtype)
      local r = object.newtensor(dtype)
      selectMasked(r, self, a)
      return r
   end
   exactly(3, self, '%s, torch.ByteTensor | %s, %s, torch.ByteTensor expected', n)
   tensor(2, a, dtype)
   beside(3, b, BYTE, dtype)
   tensor(1, self)
   selectMasked(self, a, b)
   return b
end

local function nonzero(r, source)
   local dtype = pointer(source).dtype
   local mask = object.newtensor(elements.beside(BYTE, dtype))
   geometry.resizeas(pointer(mask), pointer(source))
   kernels.compare(C.BR_NE, mask, source, nil, 0)
   masked(loops.mask_count(mask, count), nil, mask)
   if count[0] == 0 then
      geometry.resize(pointer(r), 0)
      return r
   end
   local flat = geometry.contiguous(pointer(r)) and r or object.newtensor(elements.beside(LONG, dtype))
   scratch[0], scratch[1] = count[0], pointer(source).nDimension
   geometry.resize(pointer(flat), 2)
   kernels.fault(loops.nonzero(flat, source), flat)
   if flat ~= r then
      geometry.resizeas(pointer(r), pointer(flat))
      kernels.copy(r, flat)
   end
   return r
end

local rows = {
   {name = 'nonzero', types = types.NUMERIC, forms = {'[*Long] T', nonzero}},
   {name = 'gather', types = types.NUMERIC, forms = {'[*T?] T index Long', gather}},
   {name = 'scatter', types = types.NUMERIC, forms = {'*T! index Long T', scatter, '*T! index Long real', scatter}},
}
for name, method in pairs(methods) do
   rows[#rows + 1] = {name = name, types = types.NUMERIC, method = method}
end
return rows
