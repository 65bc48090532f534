-- Tables as sets of keys, and their pairs in order.
local call = require('pl.utils').function_arg
local kinds = require 'pl.tablex.kinds'

local like, list = kinds.like, kinds.list

return function(tablex)
   function tablex.keys(t)
      local keys = {}
      for key in pairs(t) do
         keys[#keys + 1] = key
      end
      return list(keys)
   end

   function tablex.values(t)
      local values = {}
      for _, value in pairs(t) do
         values[#values + 1] = value
      end
      return list(values)
   end

   -- Positions by value, and a set of the values.
   function tablex.index_map(t)
      local map = {}
      for i = 1, #t do
         map[t[i]] = i
      end
      return setmetatable(map, require 'pl.Map')
   end

   function tablex.makeset(t)
      local set = {}
      for i = 1, #t do
         set[t[i]] = true
      end
      return setmetatable(set, require 'pl.Set')
   end

   -- The keys that two tables share; with `both` the keys of either.
   function tablex.merge(a, b, both)
      local merged = {}
      for key, value in pairs(a) do
         if both or b[key] ~= nil then
            merged[key] = value
         end
      end
      if both then
         for key, value in pairs(b) do
            merged[key] = value
         end
      end
      return like(a, merged, 'Map')
   end

   function tablex.union(a, b)
      return tablex.merge(a, b, true)
   end

   function tablex.intersection(a, b)
      return tablex.merge(a, b, false)
   end

   -- The keys of a that are not b's; with `symmetric` also those of b that are not a's.
   function tablex.difference(a, b, symmetric)
      local kept = {}
      for key, value in pairs(a) do
         if b[key] == nil then
            kept[key] = value
         end
      end
      if symmetric then
         for key, value in pairs(b) do
            if a[key] == nil then
               kept[key] = value
            end
         end
      end
      return like(a, kept, 'Map')
   end

   -- An iterator over the pairs in the order of keys, or of values.
   local function sorted(t, order, by)
      local keys = {}
      for key in pairs(t) do
         keys[#keys + 1] = key
      end
      table.sort(keys, by(order == nil and function(a, b) return a < b end or call(2, order)))
      local i = 0
      return function()
         i = i + 1
         return keys[i], t[keys[i]]
      end
   end

   function tablex.sort(t, order)
      return sorted(t, order, function(f) return f end)
   end

   function tablex.sortv(t, order)
      return sorted(t, order, function(f)
         return function(a, b) return f(t[a], t[b]) end
      end)
   end

   -- A view of a table that cannot be written.
   function tablex.readonly(t)
      return setmetatable({}, {
         __index = t,
         __newindex = function() error('Attempt to modify read-only table', 2) end,
         __pairs = function() return pairs(t) end,
         __len = function() return #t end,
         __metatable = false,
      })
   end
end
