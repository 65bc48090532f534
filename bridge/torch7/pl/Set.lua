-- Sets: tables whose keys are the elements. `+` is union, `*` intersection, `-` difference, `^` what only one has.
local class = require 'pl.class'
local Map = require 'pl.Map'
local tablex = require 'pl.tablex'

local Set = class(Map)
Set._name = 'Set'

function Set:_init(source)
   if getmetatable(source) == Set then
      for value in pairs(source) do
         self[value] = true
      end
   else
      for _, value in ipairs(source or {}) do
         self[value] = true
      end
   end
end

local function with(set, value, present)
   local changed = Set(set)
   changed[value] = present
   return changed
end

-- An operator over sets; what is no set is one element.
local function operator(f, present)
   return function(a, b)
      if getmetatable(b) ~= Set then
         return with(a, b, present)
      end
      return setmetatable(f(a, b), Set)
   end
end

Set.__index = nil -- a set's fields are its elements: set.len asks for 'len' and not for a method

local function union(a, b) return tablex.merge(a, b, true) end
local function intersection(a, b) return tablex.merge(a, b, false) end
local function difference(a, b) return tablex.difference(a, b) end
local function symmetric(a, b) return tablex.difference(a, b, true) end

Set.__add, Set.__sub = operator(union, true), operator(difference, nil)
Set.__mul, Set.__pow = operator(intersection, true), operator(symmetric, true)
Set.union, Set.difference = Set.__add, Set.__sub
Set.intersection, Set.symmetric_difference = Set.__mul, Set.__pow

function Set.values(set)
   return tablex.keys(set)
end

function Set.issubset(a, b)
   for value in pairs(a) do
      if not b[value] then
         return false
      end
   end
   return true
end
Set.__lt = Set.issubset

function Set.isempty(set)
   return next(set) == nil
end

function Set.isdisjoint(a, b)
   return next(intersection(a, b)) == nil
end

function Set.len(set)
   return tablex.size(set)
end
Set.__len = Set.len

function Set.__eq(a, b)
   return Set.issubset(a, b) and Set.issubset(b, a)
end

function Set.map(set, f, ...)
   local mapped = Set()
   f = require('pl.utils').function_arg(1, f)
   for value in pairs(set) do
      mapped[f(value, ...)] = true
   end
   return mapped
end

function Set:__tostring()
   local texts = {}
   for value in pairs(self) do
      texts[#texts + 1] = tostring(value)
   end
   return '[' .. table.concat(texts, ',') .. ']'
end

return Set
