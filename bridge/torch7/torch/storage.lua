-- torch.XStorage: flat memory of one element type, shared by tensors.
local ffi = require 'ffi'
local native = require 'bridge.native'
local class = require 'torch.class'
local elements = require 'torch.elements'
local object = require 'torch.object'
local map = require 'torch.mapping'
local arguments = require 'torch.arguments'
local numbers = require 'torch.number'

local C, cast = native.C, ffi.cast
local bad, raise, missing, integer = arguments.bad, arguments.raise, arguments.missing, arguments.integer
local valid = object.valid

local function check(self)
   local storage = arguments.storage(1, self)
   return storage, elements[storage.dtype]
end

local function read(element, data, i)
   return numbers[element.id](data, i)
end

local function write(element, data, i, value)
   if element.name == 'Half' then
      data[i] = C.br_half_from_double(value)
   else
      data[i] = value
   end
end

local methods = {}

function methods:size()
   return tonumber(check(self).size)
end

function methods:elementSize()
   local _, element = check(self)
   return element.bytes
end

function methods.fill(...)
   local self, value = ...
   local storage, element = check(self)
   local number = arguments.number(value) or missing(2, 'number', value, select('#', ...))
   local data = cast(element.pointer, storage.live[0])
   for i = 0, valid(storage) - 1 do
      write(element, data, i, number)
   end
   return self
end

function methods.resize(...)
   local self, size = ...
   local storage = check(self)
   size = integer(2, size, select('#', ...))
   if size < 0 then
      bad(2, 'size must not be negative, got %d', size)
   end
   object.resizestorage(storage, size)
   return self
end

-- Elements of any storage type, converted; equally many.
function methods.copy(...)
   local self, source = ...
   local to, element = check(self)
   if not object.storagetype(source) then
      missing(2, 'torch.*Storage', source, select('#', ...))
   end
   local from = object.storage(source)
   if to.size ~= from.size then
      bad(2, 'size mismatch')
   end
   local other = elements[from.dtype]
   local target, data = cast(element.pointer, to.live[0]), cast(other.pointer, from.live[0])
   local n = math.min(valid(to), valid(from))
   if element == other then
      ffi.copy(target, data, n * element.bytes)
      return self
   end
   for i = 0, n - 1 do
      write(element, target, i, read(other, data, i))
   end
   return self
end

function methods:totable()
   local storage, element = check(self)
   local data, result = cast(element.pointer, storage.live[0]), {}
   for i = 0, valid(storage) - 1 do
      result[i + 1] = read(element, data, i)
   end
   return result
end

function methods:data()
   local storage, element = check(self)
   return cast(element.pointer, storage.live[0])
end

function methods:cdata()
   local storage, element = check(self)
   return cast(element.thstorage, storage)
end

function methods:retain()
   C.br_storage_retain((check(self)))
end

function methods:free()
   C.br_storage_release((check(self)))
end

-- The bytes as a string; with a string: take them over.
local function string_(self, text)
   local storage, element = check(self)
   if text == nil then
      return ffi.string(cast('char*', storage.live[0]), valid(storage))
   end
   if type(text) ~= 'string' then
      missing(2, 'string', text)
   end
   object.resizestorage(storage, #text)
   ffi.copy(cast(element.pointer, storage.live[0]), text, #text)
   return self
end

arguments.publish(methods)
arguments.public(string_)

-- [size], {values}, a storage to share ([start, size] of it), a file's name ([shared, size, shared memory]), or
-- (size, pointer [, owner]).
local function constructor(element)
   local function empty(size)
      return object.wrapstorage(object.allocate(element.id, size))
   end
   return arguments.public(function(first, second, third, fourth)
      if first == nil then
         return empty(0)
      elseif type(first) == 'table' then
         local self = empty(#first)
         local data = cast(element.pointer, object.storage(self).live[0])
         for i = 1, #first do
            local number = arguments.number(first[i])
            if not number then
               raise('element at index %d is not a number', i)
            end
            write(element, data, i - 1, number)
         end
         return self
      elseif object.storagetype(first) then
         if object.storagetype(first) ~= element.id then
            arguments.typeerror(1, element.storagetype, first)
         end
         local storage = object.storage(first)
         local start = second and integer(2, second) or 1
         local size = third and integer(3, third) or tonumber(storage.size) - start + 1
         if start < 1 or start > storage.size then
            arguments.noted(start, 1, storage.size, 'offset out of bounds')
            raise('offset out of bounds')
         elseif size < 1 or start + size - 1 > storage.size then
            raise('size out of bounds')
         end
         local part = C.br_storage_part(storage, start - 1, size)
         if part == nil then
            bad(1, 'its memory is gone')
         end
         return object.wrapstorage(part)
      elseif type(first) == 'string' then
         local self = empty(0)
         map(object.storage(self), element.bytes, first, second, third and integer(3, third) or 0, fourth)
         return self
      end
      local size = integer(1, first, 1)
      if size < 0 then
         bad(1, 'size must not be negative, got %d', size)
      end
      if second == nil then
         return empty(size)
      end
      local address = type(second) == 'number' and cast('intptr_t', second) or second
      if type(address) ~= 'cdata' then
         bad(2, 'pointer expected, got %s', type(second))
      end
      local owner = third
      if owner == nil and type(second) == 'cdata' then
         owner = second -- the memory may be the cdata's own
      end
      return object.wrapstorage(object.lend(element.id, size, cast('void*', address), owner))
   end, 'constructor')
end

local function install(torch)
   for id = 0, elements.count - 1 do
      local element = elements[id]
      ffi.cdef(string.format([[
         typedef struct TH%sStorage {
            %s *data; ptrdiff_t size; int refcount; char flag; void *allocator; void *allocatorContext;
            struct TH%sStorage *view;
         } TH%sStorage;]], element.name, element.stored, element.name, element.name))
      element.thstorage = ffi.typeof('TH' .. element.name .. 'Storage*')
      local metatable = {__gc = native.collect_storage}
      for name, method in pairs(methods) do
         metatable[name] = method
      end
      if element.bytes == 1 then
         metatable.string = string_
      end
      local new = constructor(element)
      metatable.__factory = function()
         return new()
      end
      metatable.__index = function(self, key)
         if type(key) == 'number' then
            local storage = check(self)
            local i = cast('int64_t', key) - 1
            if i < 0 or i >= storage.size or (i + 1) * element.bytes > storage.live_nbytes[0] then
               arguments.noted(key, 1, storage.size, 'out of bounds')
               error("bad argument #2 to '?' (out of bounds)", 0)
            end
            return read(element, cast(element.pointer, storage.live[0]), i)
         end
         local found = metatable[key]
         if found == nil and type(key) == 'string' and tonumber(key) then
            return self[tonumber(key)]
         end
         return found
      end
      metatable.__newindex = function(self, key, value)
         key = arguments.number(key) or error(string.format('the class %s cannot be indexed', element.storagetype), 2)
         local number = arguments.number(value)
         if not number then
            error(string.format("bad argument #3 to '?' (number expected, got %s)", type(value)), 0)
         end
         local storage = check(self)
         local i = cast('int64_t', key) - 1
         if i < 0 or i >= storage.size or (i + 1) * element.bytes > storage.live_nbytes[0] then
            arguments.noted(key, 1, storage.size, 'out of bounds')
            error("bad argument #2 to '?' (out of bounds)", 0)
         end
         write(element, cast(element.pointer, storage.live[0]), i, number)
      end
      metatable.__len = function(self)
         return tonumber(check(self).size)
      end
      metatable.__eq = function(a, b)
         return object.storagetype(a) ~= nil and object.storagetype(b) ~= nil and object.storage(a) == object.storage(b)
      end
      metatable.__pointer = function(self)
         return tonumber(cast('intptr_t', (check(self))))
      end
      metatable.__pushudata = function(pointer)
         return object.wrapstorage(cast('br_storage*', pointer))
      end
      object.storagetypeof[metatable] = id
      object.storagemetatables[id] = metatable
      metatable.new = new
      class.adopt(element.storagetype, metatable, new)
      native.register('storage', id, metatable)
   end

   function torch.isStorage(value)
      return object.storagetype(value) ~= nil
   end

   -- A LongStorage of `count` sizes or strides; the caller keeps them alive.
   function object.longstorage(pointer, count)
      local self = object.wrapstorage(object.allocate(elements.Long.id, count))
      ffi.copy(object.storage(self).live[0], pointer, count * 8)
      return self
   end
end

return install
