-- Sizes, copies and pieces of tables.
local kinds = require 'pl.tablex.kinds'

local like, list = kinds.like, kinds.list

return function(tablex)
   function tablex.size(t)
      local n = 0
      for _ in pairs(t) do
         n = n + 1
      end
      return n
   end

   function tablex.copy(t)
      local copy = {}
      for key, value in pairs(t) do
         copy[key] = value
      end
      return copy
   end

   -- A copy of everything inside, too; a cycle stays a cycle, metatables are shared.
   function tablex.deepcopy(t)
      local known = {}
      local function copy(value)
         if type(value) ~= 'table' then
            return value
         elseif known[value] then
            return known[value]
         end
         local made = {}
         known[value] = made
         for key, inner in pairs(value) do
            made[copy(key)] = copy(inner)
         end
         return setmetatable(made, getmetatable(value))
      end
      return copy(t)
   end

   -- Put the pairs of one table into another.
   function tablex.update(t, other)
      for key, value in pairs(other) do
         t[key] = value
      end
      return t
   end

   -- Copy elements over those of another list (insert them, for insertvalues), with positions and a count.
   local function replace(into, from, at, first, n, clean)
      at, first = at or 1, first or 1
      n = n or #from - first + 1
      if n > 0 then
         for i = 0, n - 1 do
            into[at + i] = from[first + i]
         end
      end
      if clean then
         for i = at + n, #into do
            into[i] = nil
         end
      end
      return into
   end

   function tablex.icopy(into, from, at, first, n)
      return replace(into, from, at, first, n, true)
   end

   function tablex.move(into, from, at, first, n)
      return replace(into, from, at, first, n, false)
   end

   function tablex.insertvalues(t, at, values)
      if values == nil then
         at, values = #t + 1, at
      end
      for i = #t, at, -1 do
         t[i + #values] = t[i]
      end
      return replace(t, values, at)
   end

   function tablex._normalize_slice(t, first, last)
      local n = #t
      first = first or 1
      if first < 0 then
         first = n + first + 1
      end
      last = last or n
      if last < 0 then
         last = n + 1 + last
      end
      return first, last
   end

   function tablex.removevalues(t, first, last)
      first, last = tablex._normalize_slice(t, first, last)
      local n = last - first + 1
      for i = first, #t do
         t[i] = n > 0 and t[i + n] or n <= 0 and t[i] or nil
      end
      return t
   end

   -- The elements from first to last; negative positions count from the end.
   function tablex.sub(t, first, last)
      first, last = tablex._normalize_slice(t, first, last)
      local part = {}
      for i = first, last do
         part[#part + 1] = t[i]
      end
      return like(t, part, 'List')
   end

   function tablex.set(t, value, first, last)
      for i = first or 1, last or #t do
         t[i] = value
      end
   end

   function tablex.clear(t, first)
      for i = first or 1, #t do
         t[i] = nil
      end
   end

   function tablex.new(n, value)
      local t = {}
      tablex.set(t, value, 1, n)
      return t
   end

   function tablex.range(first, last, step)
      step = step or 1
      local numbers = {}
      for i = first, last, step do
         numbers[#numbers + 1] = i
      end
      return list(numbers)
   end
end
