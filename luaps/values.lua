-- Values: the memory of torch tensors and FFI buffers, checked against the element type of the server; also plain
-- tables.
--
-- Contiguous memory is used directly. For a table, or a tensor with gaps, a contiguous copy is used instead, called the
-- stand-in; after a pull it is copied back.
local ffi = require 'ffi'
local buffer = require 'luaps.buffer'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local lists = require 'luaps.lists'

local raise, shown = errors.raise, errors.shown
local tensorclass, layout = elements.tensorclass, elements.layout

local values = {}

-- What a message suggests for a value of another element type.
local function advice(value, element, writes)
   local class = tensorclass(value)
   local ways = {}
   if class and not writes and element.convert then
      ways[1] = string.format('convert it, values:%s()', element.convert)
   end
   for _, name in ipairs(element.reason and {} or elements.names) do
      local other = elements.byname[name]
      if other ~= element and (class and other.tensor == class or buffer.is(value) and other.ctype == value.ctype) then
         ways[#ways + 1] = string.format("create the server with dtype = '%s'", name)
      end
   end
   return #ways > 0 and '; ' .. table.concat(ways, ', or ') or ''
end

local function refuse(value, element, writes)
   local wanted = string.format('a luaps.buffer of %s', element.stored)
   if element.tensor then
      wanted = string.format('a contiguous %s or %s', element.tensor:match('^torch%.(.*)$'), wanted)
   end
   raise('expected %s, as %s; got %s%s', wanted, element.reason or 'the server holds ' .. element.name,
      buffer.is(value) and tostring(value) or shown(value), advice(value, element, writes))
end

-- Raise an error for a tensor to be written to if two of its positions may share memory.
local function refuseoverlap(tensor)
   local dims = {}
   for d = 1, tensor:dim() do
      if tensor:size(d) > 1 then
         dims[#dims + 1] = {size = tensor:size(d), stride = math.abs(tensor:stride(d))}
      end
   end
   table.sort(dims, function(a, b)
      return a.stride < b.stride
   end)
   local reach = 1
   for _, dim in ipairs(dims) do
      if dim.stride < reach then
         raise('the tensor overlaps itself: several positions lie on the same memory; pull into a plain tensor')
      end
      reach = dim.stride * (dim.size - 1) + reach
   end
end

local function openmemory(value, element, writes, ...) -- luacheck: ignore 212
   if value.ctype ~= element.ctype then
      refuse(value, element, writes)
   elseif writes and value.isconst then
      raise('the buffer is const; pull into one that can be written to')
   end
   return value.untyped, value.n
end

local function openlist(value, element, writes, wanted)
   local memory, n
   if writes then
      n = next(value) == nil and wanted or #value
      memory = lists.memory(n, element)
   else
      memory, n = lists.read(value, element)
   end
   return ffi.cast('void *', memory), n, memory
end

-- The address of the elements of `value`, their number, and the stand-in if there is one. An empty table to be written
-- to gets `wanted` elements.
function values.open(value, element, writes, wanted, ...) -- luacheck: ignore 212
   local class = tensorclass(value)
   if class then
      if class ~= element.tensor then
         refuse(value, element, writes)
      end
      local n, iscontiguous = layout(value)
      if iscontiguous then
         return elements.method(value, 'data')(value), n
      end
      if writes then
         refuseoverlap(value)
      end
      local copy = value:contiguous()
      return copy:data(), n, copy
   elseif buffer.is(value) then
      return openmemory(value, element, writes)
   elseif type(value) == 'cdata' then
      return openmemory(buffer.new(value), element, writes)
   elseif lists.is(value) then
      return openlist(value, element, writes, wanted)
   end
   refuse(value, element, writes)
end

-- A new private tensor of the same size, to pull into instead of `tensor`.
function values.twin(tensor)
   return elements.method(tensor, 'new')():resize(tensor:size())
end

-- Copy the stand-in, which a pull has filled, to `value`.
function values.fill(value, standin, element)
   if type(value) == 'table' then
      lists.write(value, standin, ffi.sizeof(standin) / element.bytes, element)
      return
   end
   if value:nElement() ~= standin:nElement() then
      raise('the tensor that was pulled into has %d elements, and had %d when the pull began', value:nElement(),
         standin:nElement())
   end
   value:copy(standin)
end

return values
