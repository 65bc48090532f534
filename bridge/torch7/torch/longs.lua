-- How many bytes a `long` has in a binary file: 8, or 4 where it was written on a 32-bit machine or on Windows. The
-- file does not say, so the first tensor or storage is looked at both ways, and at what would follow it.
local ffi = require 'ffi'
local native = require 'bridge.native'
local elements = require 'torch.elements'

local C = native.C
local STEPS = 8     -- objects looked at behind a storage
local SURE = 100    -- the score of a guess that leads to something unmistakable

local longs = {}

local bytes = ffi.new('uint8_t[16]')
local function at(ctype)
   local pointer = ffi.cast(ctype .. '*', bytes)
   local width = ffi.sizeof(ctype)
   return function(c, offset)
      return C.br_file_peek(c, offset, bytes, width) == width and tonumber(pointer[0]) or nil
   end
end
local int32, int64 = at('int32_t'), at('int64_t')
local readers = {[4] = int32, [8] = int64}

-- The name of the class at an offset, which follows the number of an object.
local function classname(c, offset)
   local length = int32(c, offset)
   if length and length > 2 and length < 12 then -- the version's
      local version = ffi.new('char[12]')
      if C.br_file_peek(c, offset + 4, version, length) == length and ffi.string(version, 2) == 'V ' then
         offset = offset + 4 + length
         length = int32(c, offset)
      end
   end
   if length and length > 0 and length < 256 then
      local name = ffi.new('char[256]')
      if C.br_file_peek(c, offset + 4, name, length) == length then
         return ffi.string(name, length)
      end
   end
end

-- How believable it is that objects begin at an offset: those that make sense, one after the other. A nil proves
-- nothing, zeros are everywhere.
local function follows(c, offset, size)
   local seen = 0
   for _ = 1, STEPS do
      if offset == size then
         return SURE
      end
      local kind, a = int32(c, offset), int32(c, offset + 4)
      if kind == 0 then
         offset = offset + 4
      elseif kind == 1 then
         offset = offset + 12
      elseif kind == 2 and a and a >= 0 and a <= size - offset then
         offset = offset + 8 + a
      elseif kind == 3 and a and a > 0 then
         local count = int32(c, offset + 8)
         if not count or count < 0 then
            return seen
         end
         offset = offset + 12
      elseif kind == 4 and a and a > 0 then
         return classname(c, offset + 8) and SURE or seen
      elseif kind == 5 and (a == 0 or a == 1) then
         offset = offset + 8
      else
         return seen
      end
      seen = kind == 0 and seen or seen + 1
   end
   return seen
end

local function undecided(state)
   local c = state.c
   return c.binary ~= 0 and c.longsize == 0 and c.foreign == 0
end

-- What the 8 bytes at an offset look like in a damaged file: two numbers, or one.
local function likely(c, offset)
   local first, second = int32(c, offset), int32(c, offset + 4)
   return first and second and first > 0 and second ~= 0 and 4 or 8
end

-- Before the size of a storage.
function longs.storage(state, dtype)
   local c = state.c
   if not undecided(state) then
      return
   end
   local start = C.br_file_tell(c)
   local left = C.br_file_remaining(c)
   -- Where 8 bytes make a number, only a long way of objects, or the end, says that 4 do: the file may be damaged.
   local best, score = likely(c, start), -1
   local least = {[8] = 0, [4] = int32(c, start + 4) == 0 and STEPS or 0}
   for _, long in ipairs{8, 4} do
      local count = readers[long](c, start)
      local width = dtype == elements.Long.id and long or elements[dtype].bytes
      if count and count >= 0 and (left < 0 and count < 2^31 or count * width <= tonumber(left) - long) then
         local found = left < 0 and 0 or follows(c, tonumber(start) + long + count * width, tonumber(start + left))
         if found > score and found >= least[long] and (long == 8 or count > 0 or found > 0) then
            best, score = long, found
         end
      end
   end
   c.longsize = best
end

-- Do n sizes and strides, an offset and a storage (or nothing) follow, with longs of this size?
local function istensor(state, start, n, long)
   local c, read = state.c, readers[long]
   for i = 0, 2 * n do
      local value = read(c, start + i * long)
      if not value or value < (i == 2 * n and 1 or 0) or value >= 2^48 then
         return false
      end
   end
   local offset = start + (2 * n + 1) * long
   local kind, number = int32(c, offset), int32(c, offset + 4)
   if kind == 0 then
      return n == 0
   elseif kind ~= 4 or not number or number < 1 then
      return false
   end
   local name = classname(c, offset + 8)
   return state.objects[number] ~= nil or name ~= nil and name:find('Storage$') ~= nil
end

-- Before the n sizes of a tensor.
function longs.tensor(state, n)
   if undecided(state) then
      local start = tonumber(C.br_file_tell(state.c))
      state.c.longsize = istensor(state, start, n, 8) and 8 or istensor(state, start, n, 4) and 4
         or likely(state.c, start)
   end
end

return longs
