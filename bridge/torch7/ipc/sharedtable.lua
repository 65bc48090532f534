-- ipc.sharedtable([t]): a table that threads share. What is read of it is a copy; tensors, and other things that
-- threads share, are themselves.
local torch = require 'torch'
local tds = require 'tds'
local sharedserialize = require 'threads.sharedserialize'
local closures = require 'ipc.closures'
local mutex = require 'ipc.mutex'

local home = {}
local Sharedtable = torch.class('ipc.sharedtable', home)

local KEYS = {string = true, number = true}

-- Call f(hash, ...) while no other thread is at it.
local function guarded(self, f, ...)
   local lock = rawget(self, 'lock')
   lock:lock()
   local function finish(ok, ...)
      lock:unlock()
      if not ok then
         error((...), 0)
      end
      return ...
   end
   return finish(pcall(f, rawget(self, 'hash'), ...))
end

local function get(hash, key)
   return hash[key]
end

local function set(hash, key, value)
   hash[key] = value
end

local function keysof(hash)
   local keys = {}
   for key in pairs(hash) do
      keys[#keys + 1] = key
   end
   return keys
end

local function length(hash)
   local n = 0
   while hash[n + 1] ~= nil do
      n = n + 1
   end
   return n
end

function Sharedtable:__index__(key)
   if not KEYS[type(key)] then
      return nil, true
   end
   local bytes = guarded(self, get, key)
   return bytes and sharedserialize.load(bytes:storage()), true
end

function Sharedtable:__newindex__(key, value)
   if not KEYS[type(key)] then
      error('ipc.sharedtable: string or number expected as a key, got ' .. torch.type(key), 0)
   end
   closures('ipc.marshal(value, true) takes it with them', value)
   guarded(self, set, key, value ~= nil and torch.CharTensor(sharedserialize.save(value)) or nil)
   return true
end

function Sharedtable:__len__()
   return guarded(self, length)
end

-- The keys there are now, each with the value that it then has.
function Sharedtable:__pairs()
   local keys, i = guarded(self, keysof), 0
   return function()
      local value
      repeat
         i = i + 1
         value = self[keys[i]]
      until value ~= nil or i > #keys
      if value ~= nil then
         return keys[i], value
      end
   end
end

-- Between threads of this process: the same table.
function Sharedtable:__write(file)
   file:writeObject(rawget(self, 'lock'))
   file:writeObject(rawget(self, 'hash'))
end

function Sharedtable:__read(file)
   rawset(self, 'lock', file:readObject())
   rawset(self, 'hash', file:readObject())
end

-- With `move`, what it begins with is taken out of t.
return function(t, move)
   if t ~= nil and type(t) ~= 'table' then
      error('ipc.sharedtable: table expected, got ' .. torch.type(t), 2)
   end
   local self = torch.factory('ipc.sharedtable')()
   rawset(self, 'lock', mutex())
   rawset(self, 'hash', tds.Hash())
   local keys = keysof(t or {})
   for _, key in ipairs(keys) do
      self[key] = t[key]
      if move then
         t[key] = nil
      end
   end
   return self
end
