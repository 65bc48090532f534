-- Lua 5.2's bit32 over LuaJIT's bit: arguments modulo 2^32, results in 0 .. 2^32 - 1.
local bit = require 'bit'

local band, bor, bxor, bnot = bit.band, bit.bor, bit.bxor, bit.bnot
local lshift, rshift, arshift, rol = bit.lshift, bit.rshift, bit.arshift, bit.rol

local bit32 = {}

local function unsigned(x)
   return x % 4294967296
end

local function fold(operation, first)
   return function(...)
      local result = first
      for i = 1, select('#', ...) do
         result = operation(result, (select(i, ...)) % 4294967296)
      end
      return unsigned(result)
   end
end

bit32.band = fold(band, -1)
bit32.bor = fold(bor, 0)
bit32.bxor = fold(bxor, 0)

function bit32.btest(...)
   return bit32.band(...) ~= 0
end

function bit32.bnot(x)
   return unsigned(bnot(unsigned(x)))
end

function bit32.lshift(x, n)
   if n < 0 then
      return bit32.rshift(x, -n)
   end
   return n > 31 and 0 or unsigned(lshift(unsigned(x), n))
end

function bit32.rshift(x, n)
   if n < 0 then
      return bit32.lshift(x, -n)
   end
   return n > 31 and 0 or unsigned(rshift(unsigned(x), n))
end

function bit32.arshift(x, n)
   if n < 0 then
      return bit32.lshift(x, -n)
   end
   return unsigned(arshift(unsigned(x), n > 31 and 31 or n))
end

function bit32.lrotate(x, n)
   return unsigned(rol(unsigned(x), n % 32))
end

function bit32.rrotate(x, n)
   return bit32.lrotate(x, -n)
end

local function checked(field, width)
   if field < 0 or width < 1 or field + width > 32 then
      error('trying to access non-existent bits', 3)
   end
   return 2 ^ width
end

function bit32.extract(x, field, width)
   local range = checked(field, width or 1)
   return math.floor(unsigned(x) / 2 ^ field) % range
end

function bit32.replace(x, value, field, width)
   local range = checked(field, width or 1)
   x = unsigned(x)
   local old = math.floor(x / 2 ^ field) % range
   return x + (unsigned(value) % range - old) * 2 ^ field
end

return bit32
