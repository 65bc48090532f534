-- tds: hashes, vectors and counters in C memory, beyond the limits of Lua's collector, shared between threads.
local torch = require 'torch'
local hash = require 'tds.hash'
local vec = require 'tds.vec'
local atomic = require 'tds.atomic'
require 'tds.tensors'

local tds = {C = require 'tds.C'}

local convert

local function fillhash(object, list)
   for key, value in pairs(list) do
      object[convert(key)] = convert(value)
   end
   return object
end

local function numbersonly(list)
   for key in pairs(list) do
      if type(key) ~= 'number' then
         return false
      end
   end
   return true
end

local function fillvec(object, list)
   if not numbersonly(list) then
      error('lua table with number keys expected', 0)
   end
   for index, value in pairs(list) do
      object[index] = convert(value)
   end
   return object
end

-- Lua tables become vectors, or hashes if they have other keys than numbers; everything else stays.
function convert(value)
   if type(value) ~= 'table' then
      return value
   elseif numbersonly(value) then
      return fillvec(vec(), value)
   end
   return fillhash(hash(), value)
end

-- A table that makes objects when it is called, and through which programs reach what these do.
local function class(metatable, create)
   return setmetatable({}, {__index = metatable, __newindex = metatable, __call = function(_, ...)
      return create(...)
   end})
end

-- tds.Hash([table])
tds.Hash = class(torch.getmetatable('tds.Hash'), function(...)
   if select('#', ...) == 0 then
      return hash()
   elseif select('#', ...) > 1 or type((...)) ~= 'table' then
      error('lua table or nothing expected', 3)
   end
   return fillhash(hash(), (...))
end)

-- tds.Vec([table]) or tds.Vec(elements ...)
tds.Vec = class(torch.getmetatable('tds.Vec'), function(...)
   local first = ...
   return fillvec(vec(), select('#', ...) == 1 and type(first) == 'table' and first or {...})
end)

tds.AtomicCounter = class({}, atomic)
tds.hash, tds.vec, tds.atomic_counter = tds.Hash, tds.Vec, tds.AtomicCounter

return tds
