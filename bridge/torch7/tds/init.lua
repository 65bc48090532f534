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

local function fillvec(object, list)
   for index, value in pairs(list) do
      if type(index) ~= 'number' then
         error(string.format('tds.Vec: number keys expected, got %s', tostring(index)), 3)
      end
      object[index] = convert(value)
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

-- Lua tables become vectors, or hashes if they have other keys than numbers; everything else stays.
function convert(value)
   if type(value) ~= 'table' or torch.typename(value) then
      return value
   elseif numbersonly(value) then
      return fillvec(vec(), value)
   end
   return fillhash(hash(), value)
end

-- tds.Hash([table])
function tds.Hash(list)
   if list ~= nil and type(list) ~= 'table' then
      error(string.format('tds.Hash: table expected, got %s', torch.type(list)), 2)
   end
   return fillhash(hash(), list or {})
end

-- tds.Vec([table]) or tds.Vec(elements ...)
function tds.Vec(...)
   local n = select('#', ...)
   local first = ...
   if n == 1 and type(first) == 'table' and not torch.typename(first) then
      return fillvec(vec(), first)
   end
   local object = vec()
   object:resize(n)
   for i = 1, n do
      object[i] = convert((select(i, ...)))
   end
   return object
end

tds.AtomicCounter = atomic
tds.hash, tds.vec, tds.atomic_counter = tds.Hash, tds.Vec, tds.AtomicCounter

return tds
