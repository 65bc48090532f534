-- tds.Vec: a sequence in C memory. Its elements are whatever tds holds, nil too.
local ffi = require 'ffi'
local torch = require 'torch'
local C = require 'tds.C'
local elem = require 'tds.elem'
local ctype = require 'tds.ctype'
local show = require 'tds.show'

local new, set, take = elem.new, elem.set, elem.take
local MAXIMUM = 2^47 -- more elements than memory has bytes

local vec = {}
local methods = {}

local function nomemory(rc)
   if rc ~= 0 then
      error('out of memory')
   end
end

-- A position from 0 for an index from 1; fractions are cut off.
local function position(index)
   if type(index) ~= 'number' or not (index > 0) then
      error('positive number expected as key', 0)
   elseif index >= MAXIMUM then
      error('out of memory', 3)
   end
   return index < 1 and 0 or math.floor(index) - 1
end

local function get(self, at)
   local value = new()
   if C.tds_vec_get(self, at, value) == 0 then
      return nil
   end
   return take(value)
end

function vec:__index(key)
   if type(key) ~= 'number' then
      return rawget(methods, key) or error('invalid key (number) or method name', 2)
   elseif key >= MAXIMUM then
      return nil
   end
   return get(self, position(key))
end

function vec:__newindex(key, value)
   local at = position(key)
   local v = new()
   set(v, value)
   nomemory(C.tds_vec_set(self, at, v))
end

function vec:__len()
   return tonumber(C.tds_vec_size(self))
end

function vec:__ipairs()
   local i = 0
   return function()
      local value = new()
      if C.tds_vec_get(self, i, value) == 0 then
         return nil
      end
      i = i + 1
      return i, take(value)
   end
end
vec.__pairs = vec.__ipairs

function vec:__tostring()
   local keys, values = {}, {}
   for i, value in vec.__ipairs(self) do
      keys[i], values[i] = tostring(i), tostring(value)
      if i == show.MOST then
         break
      end
   end
   return show.text('tds.Vec', #self, '%5s : ', keys, values)
end

function vec:write(file)
   file:writeLong(#self)
   for _, value in vec.__ipairs(self) do
      file:writeObject(value)
   end
end

function vec:read(file)
   for i = 1, file:readLong() do -- as many as the file really has, whatever it promises
      self[i] = file:readObject()
      if file:hasError() then
         return
      end
   end
end

-- ---- methods

function methods:resize(size)
   if type(size) ~= 'number' or not (size >= 0) then
      error('size must be a positive number', 0)
   end
   nomemory(size < MAXIMUM and C.tds_vec_resize(self, size) or -1)
end

-- insert([index,] value)
function methods:insert(...)
   local n = select('#', ...)
   if n ~= 1 and n ~= 2 then
      error('[key] value expected', 2)
   end
   local at, value = C.TDS_END, (...)
   if n == 2 then
      at, value = position((...)), (select(2, ...))
   end
   local v = new()
   set(v, value)
   nomemory(C.tds_vec_insert(self, at, v))
end

function methods:remove(index)
   C.tds_vec_remove(self, index == nil and #self - 1 or position(index))
end

-- By a Lua function that tells whether its first argument is less, or a C function that compares two tds_elem.
function methods:sort(compare)
   if type(compare) == 'cdata' then
      nomemory(C.tds_vec_sort(self, compare))
      return
   elseif type(compare) ~= 'function' then
      error('compare function must be a lua or C function', 0)
   end
   local n = #self
   local values, places = {}, {}
   for i = 1, n do
      values[i], places[i] = get(self, i - 1), i
   end
   table.sort(places, function(a, b) return compare(values[a], values[b]) end)
   local order = ffi.new('int64_t[?]', n)
   for i = 1, n do
      order[i - 1] = places[i] - 1
   end
   if C.tds_vec_reorder(self, order, n) ~= 0 then
      error('sort: the vector was changed meanwhile, or there is not enough memory', 2)
   end
end
jit.off(methods.sort) -- a C comparison may be a callback to Lua, which compiled code must not reach

-- The elements from i to j as one string.
function methods:concat(sep, i, j)
   local parts = {}
   for k = i or 1, j or #self do
      parts[#parts + 1] = tostring(self[k])
   end
   return table.concat(parts, sep or '')
end

function methods:concatstorage(sep, i, j)
   local text = methods.concat(self, sep, i, j)
   local storage = torch.CharStorage()
   return storage:string(text)
end

-- The elements from i to j as so many values.
function methods:unpack(i, j)
   i, j = i or 1, j or #self
   local values = {}
   for k = i, j do
      values[k] = self[k]
   end
   return unpack(values, i, j)
end

methods.pairs = vec.__pairs
methods.ipairs = vec.__ipairs

return ctype('tds.Vec', 'tds_vec', 'tds_vec', vec)
