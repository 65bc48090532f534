-- Comparing tables, and looking for values in them.
local types = require 'pl.types'
local call = require('pl.utils').function_arg
local kinds = require 'pl.tablex.kinds'

local list = kinds.list

local function expect(index, object)
   if not types.is_indexable(object) then
      error(('argument %d is not indexable'):format(index), 3)
   end
end

return function(tablex)
   function tablex.deepcompare(a, b, ignore_mt, epsilon)
      if type(a) ~= type(b) then
         return false
      elseif type(a) == 'number' then
         return a == b or epsilon ~= nil and math.abs(a - b) < epsilon
      elseif type(a) ~= 'table' then
         return a == b
      end
      local metatable = getmetatable(a)
      if not ignore_mt and type(metatable) == 'table' and metatable.__eq then
         return a == b
      end
      for key, value in pairs(a) do
         if b[key] == nil or not tablex.deepcompare(value, b[key], ignore_mt, epsilon) then
            return false
         end
      end
      for key in pairs(b) do
         if a[key] == nil then
            return false
         end
      end
      return true
   end

   -- Are two lists equal, by a function of two elements?
   function tablex.compare(a, b, same)
      same = same == nil and function(x, y) return x == y end or call(3, same)
      if #a ~= #b then
         return false
      end
      for i = 1, #a do
         if not same(a[i], b[i]) then
            return false
         end
      end
      return true
   end

   function tablex.compare_no_order(a, b, same)
      same = same == nil and function(x, y) return x == y end or call(3, same)
      if #a ~= #b then
         return false
      end
      local used = {}
      for i = 1, #a do
         local found
         for j = 1, #b do
            if not used[j] and same(a[i], b[j]) then
               found = j
               break
            end
         end
         if not found then
            return false
         end
         used[found] = true
      end
      return true
   end

   function tablex.find(t, value, from)
      expect(1, t)
      from = from or 1
      if from < 0 then
         from = #t + from + 1
      end
      for i = from, #t do
         if t[i] == value then
            return i
         end
      end
      return nil
   end

   function tablex.rfind(t, value, from)
      expect(1, t)
      from = from or #t
      if from < 0 then
         from = #t + from + 1
      end
      for i = from, 1, -1 do
         if t[i] == value then
            return i
         end
      end
      return nil
   end

   -- The position of the first element that a test accepts, and what the test said.
   function tablex.find_if(t, test, argument)
      test = call(1, test)
      for i = 1, #t do
         local said = test(t[i], argument)
         if said then
            return i, said
         end
      end
      return nil
   end

   -- The path to a value in nested tables, as 'a.b'; the tables in `exclude` are passed over.
   function tablex.search(t, value, exclude)
      local seen = {}
      for _, one in ipairs(exclude or {}) do
         seen[one] = true
      end
      local function look(in_, prefix)
         seen[in_] = true
         for key, inner in pairs(in_) do
            if inner == value then
               return prefix .. tostring(key)
            end
         end
         for key, inner in pairs(in_) do
            if type(inner) == 'table' and not seen[inner] then
               local found = look(inner, prefix .. tostring(key) .. '.')
               if found then
                  return found
               end
            end
         end
         return nil
      end
      return look(t, '')
   end

   function tablex.index_by(t, keys)
      local found = {}
      for i = 1, #keys do
         found[#found + 1] = t[keys[i]]
      end
      return list(found)
   end
end
