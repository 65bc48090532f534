-- Keys: reads what a program passes as keys into 0-based int64, in memory that is reused from call to call.
--
-- Keys are always copied, so that they cannot change during a call.
local ffi = require 'ffi'
local C = require 'luaps.library'
local buffer = require 'luaps.buffer'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'

local raise, shown = errors.raise, errors.shown
local tensorclass, layout = elements.tensorclass, elements.layout

local EXPECTED = '%s must be a number, a table of numbers, a torch tensor of whole numbers or a luaps.buffer; got %s'
local HASHES = {xxh64 = function(text)
   return C.ps_text_key(text, #text)
end}
local WHOLE = 2^53
local memory = ffi.typeof('int64_t[?]')

local keys = {}

-- Reusable memory for keys, which grows when needed. With the name of a hash, keys may be strings as well.
function keys.scratch(hash)
   local scratch = {data = memory(16), capacity = 16, hashed = HASHES[hash]}
   if hash and not scratch.hashed then
      raise("hash '%s' is not known to this luaps", hash)
   end
   return scratch
end

-- The key that stands for a string, as an int64_t.
keys.hashed = HASHES.xxh64

local function reserve(scratch, n, ...) -- luacheck: ignore 212
   if n > scratch.capacity then
      local capacity = math.max(n, 2 * scratch.capacity)
      scratch.data, scratch.capacity = memory(capacity), capacity
   end
   return scratch.data
end

local function refuse(key, position, what)
   local where = position and string.format(' at position %d', position) or ''
   if type(key) ~= 'number' then
      raise('%s must be whole numbers; got %s%s', what, shown(key), where)
   end
   raise(math.abs(key) > WHOLE and '%s: %s%s is beyond 2^53, where numbers are not exact; use a torch.LongTensor'
      or '%s: %s%s is not a whole number', what, shown(key), where)
end

-- Whether a key is a whole number that a Lua number holds exactly.
local function iswhole(key, ...) -- luacheck: ignore 212
   return type(key) == 'number' and key % 1 == 0 and key <= WHOLE and key >= -WHOLE
end

local function isint64(key, ...) -- luacheck: ignore 212
   return type(key) == 'cdata' and ffi.istype('int64_t', key)
end

-- Copy `n` int64. A loop in Lua with few turns would end the trace of the calling program, so that the copy is done in
-- C.
local function copyint64(to, from, n, base, ...) -- luacheck: ignore 212
   C.ps_shift_keys(to, from, n, base)
end

-- Copy `n` numbers of another integer type.
local function copywhole(to, from, n, base)
   for i = 0, n - 1 do
      to[i] = from[i] - base
   end
end

-- Copy `n` numbers of a floating-point type, which may not be whole.
local function copychecked(to, from, n, base, what)
   for i = 0, n - 1 do
      local key = from[i]
      if not iswhole(key) then
         refuse(key, i + 1, what)
      end
      to[i] = key - base
   end
end

-- The copy function for each C type, as LuaJIT prints its name.
local copiers = {
   int64_t = copyint64,
   int = copywhole,
   short = copywhole,
   ['signed char'] = copywhole,
   ['unsigned char'] = copywhole,
   float = copychecked,
   double = copychecked,
}

-- The C element type of each tensor type that can hold keys.
local tensors = {
   ['torch.LongTensor'] = copyint64,
   ['torch.IntTensor'] = copywhole,
   ['torch.ShortTensor'] = copywhole,
   ['torch.CharTensor'] = copywhole,
   ['torch.ByteTensor'] = copywhole,
   ['torch.FloatTensor'] = copychecked,
   ['torch.DoubleTensor'] = copychecked,
}

local function readlist(scratch, list, base, what)
   local n = table.maxn(list) -- finds the holes, which #list may not
   if n == 0 and next(list) ~= nil then
      raise(EXPECTED, what, 'a table with named fields')
   end
   local data = reserve(scratch, n)
   for i = 1, n do
      local key = list[i]
      if iswhole(key) or isint64(key) then
         data[i - 1] = key - base
      elseif type(key) == 'string' and scratch.hashed then
         data[i - 1] = scratch.hashed(key)
      else
         refuse(key, i, what)
      end
   end
   return data, n
end

local function readmemory(scratch, value, base, what, ...) -- luacheck: ignore 212
   local copy = copiers[value.ctype]
   if not copy then
      raise('%s cannot be read from %s; use int64_t', what, tostring(value))
   end
   local data = reserve(scratch, value.n)
   copy(data, value.pointer, value.n, base, what)
   return data, value.n, value -- the caller keeps it alive until the keys are copied
end

local function readtensor(scratch, tensor, class, base, what, ...) -- luacheck: ignore 212
   local copy = tensors[class]
   if not copy then
      raise('%s cannot be read from a %s; convert it, %s:long()', what, class, what)
   end
   local n, iscontiguous = layout(tensor)
   if not iscontiguous then
      tensor = tensor:contiguous()
   end
   local data = reserve(scratch, n)
   copy(data, elements.method(tensor, 'data')(tensor), n, base, what)
   return data, n, tensor -- the caller keeps it alive until the keys are copied
end

-- Read keys into `scratch`, where the program calls the first key `base`. Returns a pointer to them and their number.
-- `what` is the name of the argument in messages.
function keys.read(scratch, value, base, what, ...) -- luacheck: ignore 212
   local kind = type(value)
   if kind == 'userdata' then
      local class = tensorclass(value)
      if class then
         -- Not a tail call: a trace can contain only few of them.
         local data, n = readtensor(scratch, value, class, base, what)
         return data, n
      end
   elseif kind == 'number' or isint64(value) then
      if kind == 'number' and not iswhole(value) then
         refuse(value, nil, what)
      end
      scratch.data[0] = value - base
      return scratch.data, 1
   elseif buffer.is(value) then
      return readmemory(scratch, value, base, what)
   elseif kind == 'table' and not getmetatable(value) then
      return readlist(scratch, value, base, what)
   elseif kind == 'cdata' then
      return readmemory(scratch, buffer.new(value), base, what)
   elseif kind == 'string' and scratch.hashed then
      scratch.data[0] = scratch.hashed(value)
      return scratch.data, 1
   end
   raise(EXPECTED, what, shown(value))
end

-- Copy keys as the core numbers them into a buffer, as the program calls them; `base` as for read.
function keys.copy(from, n, base)
   local to = ffi.new('int64_t[?]', n)
   C.ps_shift_keys(to, from, n, -base)
   return buffer.new(to, n)
end

return keys
