-- luaps.buffer(memory, n): `n` elements of plain FFI memory, for keys or for values. For an array `n` may be left out,
-- and the buffer keeps the array alive. For a pointer, the program has to keep the memory alive.
local ffi = require 'ffi'
local elements = require 'luaps.elements'
local errors = require 'luaps.errors'
local arguments = require 'luaps.arguments'

local raise = errors.raise

local Buffer = {}
Buffer.__index = Buffer

local function new(memory, n)
   if type(memory) ~= 'cdata' then
      raise("buffer expects an FFI array or pointer, like ffi.new('float[?]', 10); got %s", errors.shown(memory))
   end
   local ctype, ispointer = elements.ctype(memory)
   local const = ctype and ctype:match('^const (.*)$')
   ctype = const or ctype
   if not ctype or ctype == 'void' then
      raise("buffer: elements of '%s' are unknown; cast the memory, as in ffi.cast('float*', memory)",
         errors.shown(memory))
   end
   if not ispointer then
      local length = ffi.sizeof(memory) / ffi.sizeof(ctype)
      n = arguments.whole('buffer: n', n == nil and length or n, 0, length)
   elseif n == nil then
      raise('buffer: a pointer does not tell how many elements it has; say it, luaps.buffer(pointer, n)')
   else
      n = arguments.whole('buffer: n', n, 0)
   end
   local pointer = ffi.cast(const and 'const ' .. ctype .. '*' or ctype .. '*', memory)
   if pointer == nil and n > 0 then
      raise('buffer: %d elements at a null pointer', n)
   end
   return setmetatable({
      memory = memory,
      pointer = pointer,
      n = n,
      ctype = ctype,
      isconst = const ~= nil,
      untyped = ffi.cast('void*', pointer),
   }, Buffer)
end

function Buffer:__tostring()
   return string.format('luaps.buffer of %d %s', self.n, self.ctype)
end

local buffer = {new = new}

function buffer.is(value, ...) -- luacheck: ignore 212
   return getmetatable(value) == Buffer
end

return buffer
