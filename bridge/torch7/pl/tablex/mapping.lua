-- What functions make of tables.
local call = require('pl.utils').function_arg
local kinds = require 'pl.tablex.kinds'

local like, list = kinds.like, kinds.list

return function(tablex)
   function tablex.map(f, t, ...)
      f = call(1, f)
      local mapped = {}
      for key, value in pairs(t) do
         mapped[key] = f(value, ...)
      end
      return like(t, mapped)
   end

   function tablex.imap(f, t, ...)
      f = call(1, f)
      local mapped = {}
      for i = 1, #t do
         mapped[i] = f(t[i], ...) or false
      end
      return list(mapped)
   end

   function tablex.map_named_method(name, t, ...)
      local mapped = {}
      for i = 1, #t do
         mapped[i] = t[i][name](t[i], ...)
      end
      return list(mapped)
   end

   function tablex.transform(f, t, ...)
      f = call(1, f)
      for key, value in pairs(t) do
         t[key] = f(value, ...)
      end
   end

   function tablex.map2(f, a, b, ...)
      f = call(1, f)
      local mapped = {}
      for key, value in pairs(a) do
         mapped[key] = f(value, b[key], ...)
      end
      return like(a, mapped, 'List')
   end

   function tablex.imap2(f, a, b, ...)
      f = call(1, f)
      local mapped = {}
      for i = 1, math.min(#a, #b) do
         mapped[i] = f(a[i], b[i], ...)
      end
      return mapped
   end

   function tablex.mapn(f, ...)
      f = call(1, f)
      local lists = {...}
      local shortest = math.huge
      for i = 1, #lists do
         shortest = math.min(shortest, #lists[i])
      end
      local mapped = {}
      for k = 1, shortest do
         local values = {}
         for i = 1, #lists do
            values[i] = lists[i][k]
         end
         mapped[k] = f(unpack(values, 1, #lists))
      end
      return mapped
   end

   function tablex.zip(...)
      return tablex.mapn(function(...) return {...} end, ...)
   end

   -- f(key, value) for every pair: a list; when f gives a second value, that is the key of the first.
   function tablex.pairmap(f, t, ...)
      f = call(1, f)
      local mapped = {}
      for key, value in pairs(t) do
         local result, under = f(key, value, ...)
         if under ~= nil then
            if mapped[under] ~= nil and type(mapped[under]) == 'table' then
               table.insert(mapped[under], result)
            else
               mapped[under] = result
            end
         else
            mapped[#mapped + 1] = result
         end
      end
      return mapped
   end

   function tablex.reduce(f, t, first)
      f = call(1, f)
      local n = #t
      local from, result = 1, first
      if first == nil then
         if n == 0 then
            return nil
         end
         from, result = 2, t[1]
      end
      for i = from, n do
         result = f(result, t[i])
      end
      return result
   end

   function tablex.foreach(t, f, ...)
      f = call(1, f)
      for key, value in pairs(t) do
         f(value, key, ...)
      end
   end

   function tablex.foreachi(t, f, ...)
      f = call(1, f)
      for i = 1, #t do
         f(t[i], i, ...)
      end
   end

   function tablex.filter(t, test, argument)
      test = call(1, test)
      local kept = {}
      for i = 1, #t do
         if test(t[i], argument) then
            kept[#kept + 1] = t[i]
         end
      end
      return like(t, kept, 'List')
   end

   function tablex.count_map(t, same)
      local counts, seen = {}, {}
      same = same and call(2, same)
      for i = 1, #t do
         local value = t[i]
         if not seen[i] then
            if not same then
               counts[value] = (counts[value] or 0) + 1
            else
               counts[value] = 1
               for j = i + 1, #t do
                  if not seen[j] and same(value, t[j]) then
                     counts[value] = counts[value] + 1
                     seen[j] = true
                  end
               end
            end
         end
      end
      return setmetatable(counts, require 'pl.Map')
   end
end
