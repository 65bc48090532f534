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
local tensor, fail, integer = arguments.tensor, arguments.fail, arguments.integer
local BYTE, LONG = elements.Byte.id, elements.Long.id
local count = ffi.new('int64_t[1]')

local methods = {}

local function check(code, name, argument, r, a, indices, limit)
   if code == 0 then
      return
   elseif code == C.BR_INDEX then
      if indices then
         arguments.notedamong(indices, limit, 'out of range')
      end
      fail(argument, name, 'out of range', 1)
   end
   kernels.fault(code, r, a)
end

local function dimension(name, argument, t, d)
   d = integer(argument, name, d)
   if d < 1 or d > t.nDimension then
      fail(argument, name, 'Indexing dim is out of bounds', 1)
   end
   return d - 1
end

-- A tensor of indices (LONG) or a mask (BYTE) for t's elements; beside a t on a device it may be there, too.
local function beside(argument, name, value, id, t)
   local found = object.dtype(value)
   return found == elements.beside(id, t.dtype) and pointer(value) or tensor(argument, name, value, id)
end

local function vector(name, argument, value, from)
   local t = beside(argument, name, value, LONG, from)
   if t.nDimension ~= 1 then
      fail(argument, name, 'Index is supposed to be a vector', 1)
   end
   return t
end

-- index([result,] source, dimension, indices); as a method, the source is self unless a source is given.
local function select(r, source, d, indices)
   local from = tensor(1, 'index', source)
   d = dimension('index', 2, from, d)
   local chosen = vector('index', 3, indices, from)
   local to = pointer(r)
   if to.storage ~= nil and to.storage == from.storage then
      source = source:clone()
      from = pointer(source)
   end
   ffi.copy(scratch, from.size, from.nDimension * 8)
   scratch[d] = chosen.size[0]
   geometry.resize(to, from.nDimension)
   check(loops.index(C.BR_INDEX_SELECT, r, source, d, indices, 0), 'index', 3, r, source, indices, from.size[d])
   return r
end

function methods:index(first, second, third)
   local t = tensor(1, 'index', self)
   if object.dtype(first) then
      tensor(2, 'index', first, t.dtype)
      return select(self, first, second, third)
   end
   return select(object.newtensor(t.dtype), self, first, second)
end

local function into(name, op)
   methods[name] = function(self, d, indices, source)
      local t = tensor(1, name, self)
      d = dimension(name, 2, t, d)
      vector(name, 3, indices, t)
      tensor(4, name, source, t.dtype)
      check(loops.index(op, self, source, d, indices, 0), name, 3, self, source, indices, t.size[d])
      return source
   end
end
into('indexCopy', C.BR_INDEX_COPY)
into('indexAdd', C.BR_INDEX_ADD)

function methods:indexFill(d, indices, value)
   local t = tensor(1, 'indexFill', self)
   d = dimension('indexFill', 2, t, d)
   vector('indexFill', 3, indices, t)
   local v = arguments.number(value)
   if not v then
      fail(4, 'indexFill', 'number expected, got ' .. type(value))
   end
   check(loops.index(C.BR_INDEX_FILL, self, nil, d, indices, v), 'indexFill', 3, self, nil, indices, t.size[d])
   return value
end

local function gather(r, source, d, indices)
   local from = tensor(1, 'gather', source)
   d = dimension('gather', 2, from, d)
   local chosen, to = beside(3, 'gather', indices, LONG, from), pointer(r)
   if to.storage ~= nil and to.storage == from.storage then
      source = source:clone()
   end
   geometry.resizeas(to, chosen)
   check(loops.gather(r, source, d, indices), 'gather', 3, r, source)
   return r
end

function methods:gather(first, second, third)
   local t = tensor(1, 'gather', self)
   if object.dtype(first) then
      tensor(2, 'gather', first, t.dtype)
      return gather(self, first, second, third)
   end
   return gather(object.newtensor(t.dtype), self, first, second)
end

function methods:scatter(d, indices, source)
   local t = tensor(1, 'scatter', self)
   d = dimension('scatter', 2, t, d)
   beside(3, 'scatter', indices, LONG, t)
   local value = arguments.number(source)
   if not value then
      tensor(4, 'scatter', source, t.dtype)
   end
   check(loops.scatter(self, not value and source or nil, d, indices, value or 0), 'scatter', 3, self)
   return self
end

-- Faults of masks: their values, too few elements.
local function masked(code, name, r, a)
   if code == C.BR_VALUE then
      error('Mask tensor can take 0 and 1 values only', 3)
   elseif code == C.BR_INDEX then
      error('Number of elements of src < number of ones in mask', 3)
   end
   check(code, name, 3, r, a)
end

function methods:maskedFill(mask, value)
   local t = tensor(1, 'maskedFill', self)
   beside(2, 'maskedFill', mask, BYTE, t)
   local v = arguments.number(value)
   if not v then
      fail(3, 'maskedFill', 'number expected, got ' .. type(value))
   end
   masked(loops.masked_fill(self, mask, v), 'maskedFill', self, mask)
   return value
end

function methods:maskedCopy(mask, source)
   local t = tensor(1, 'maskedCopy', self)
   beside(2, 'maskedCopy', mask, BYTE, t)
   tensor(3, 'maskedCopy', source, t.dtype)
   masked(loops.masked_copy(self, mask, source), 'maskedCopy', self, mask)
   return self
end

local function selectMasked(r, source, mask)
   local m = beside(2, 'maskedSelect', mask, BYTE, pointer(source))
   masked(loops.mask_count(mask, count), 'maskedSelect', mask)
   if geometry.elements(m) ~= geometry.elements(pointer(source)) then
      kernels.fault(C.BR_COUNT, source, mask)
   end
   if pointer(r).storage ~= nil and pointer(r).storage == pointer(source).storage then
      source = source:clone()
   end
   geometry.resize1(pointer(r), tonumber(count[0]))
   masked(loops.masked_select(r, source, mask), 'maskedSelect', r, mask)
   return r
end

function methods:maskedSelect(first, second)
   local t = tensor(1, 'maskedSelect', self)
   if second ~= nil then
      tensor(2, 'maskedSelect', first, t.dtype)
      return selectMasked(self, first, second)
   end
   return selectMasked(object.newtensor(t.dtype), self, first)
end

local function nonzero(r, source)
   local dtype = pointer(source).dtype
   local mask = object.newtensor(elements.beside(BYTE, dtype))
   geometry.resizeas(pointer(mask), pointer(source))
   kernels.compare(C.BR_NE, mask, source, nil, 0)
   masked(loops.mask_count(mask, count), 'nonzero', mask)
   if count[0] == 0 then
      geometry.resize(pointer(r), 0)
      return r
   end
   local flat = geometry.contiguous(pointer(r)) and r or object.newtensor(elements.beside(LONG, dtype))
   scratch[0], scratch[1] = count[0], pointer(source).nDimension
   geometry.resize(pointer(flat), 2)
   check(loops.nonzero(flat, source), 'nonzero', 2, flat)
   if flat ~= r then
      geometry.resizeas(pointer(r), pointer(flat))
      kernels.copy(r, flat)
   end
   return r
end

local rows = {{name = 'nonzero', types = types.NUMERIC, forms = {'*Long T', nonzero}}}
for name, method in pairs(methods) do
   rows[#rows + 1] = {name = name, types = types.NUMERIC, method = method,
      call = (name == 'gather' or name == 'scatter') and method or nil}
end
return rows
