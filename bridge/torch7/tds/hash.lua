-- tds.Hash: a table in C memory. Keys and values are whatever tds holds.
local ffi = require 'ffi'
local torch = require 'torch'
local C = require 'tds.C'
local elem = require 'tds.elem'
local ctype = require 'tds.ctype'
local show = require 'tds.show'

local new, set, take = elem.new, elem.set, elem.take
local pair = ffi.typeof('tds_elem[2]') -- a key and a value in one piece
local position = ffi.typeof('int64_t[1]')

local hash = {}

function hash:__index(key)
   if key == nil then
      error('hash index is nil', 0)
   end
   local both = pair()
   set(both[0], key)
   local found = C.tds_hash_get(self, both, both + 1)
   if type(key) ~= 'number' then
      C.tds_elem_free_content(both)
   end
   if found == 0 then
      return nil
   end
   return take(both[1])
end

function hash:__newindex(key, value)
   if key == nil then
      error('hash index is nil', 0)
   elseif key ~= key then
      error('a key of a tds.Hash is not NaN', 2)
   end
   local both = pair()
   set(both[1], value)
   set(both[0], key)
   if C.tds_hash_set(self, both, both + 1) ~= 0 then
      error('out of memory')
   end
end

function hash:__len()
   return tonumber(C.tds_hash_size(self))
end

function hash:__pairs()
   local at = position()
   return function()
      local k, v = new(), new()
      if C.tds_hash_next(self, at, k, v) == 0 then
         return nil
      end
      return take(k), take(v)
   end
end

local plain = {string = true, number = true, boolean = true}

function hash:__tostring()
   local keys, values, width = {}, {}, 0
   for key, value in hash.__pairs(self) do
      local n = #keys + 1
      keys[n] = plain[type(key)] and tostring(key) or torch.type(key)
      values[n] = tostring(value)
      width = math.max(width, #keys[n])
      if n == show.MOST then
         break
      end
   end
   return show.text('tds.Hash', #self, '%-' .. width .. 's : ', keys, values)
end

function hash:write(file)
   file:writeLong(#self)
   for key, value in hash.__pairs(self) do
      file:writeObject(key)
      file:writeObject(value)
   end
end

function hash:read(file)
   for _ = 1, file:readLong() do
      local key, value = file:readObject(), file:readObject()
      if file:hasError() then
         return
      end
      self[key] = value
   end
end

local create = ctype('tds.Hash', 'tds_hash', 'tds_hash', hash)

return create
