-- What xlua does with tables: as text, cut, without duplicates.
local function value2string(xlua, value)
   if type(value) == 'table' then
      return xlua.table2string(value)
   elseif type(value) ~= 'string' then
      return tostring(value)
   end
   value = value:gsub('\n', '\\n')
   if value:find('"') and not value:find("'") then
      return "'" .. value .. "'"
   end
   return '"' .. value:gsub('"', '\\"') .. '"'
end

local function key2string(xlua, key)
   if type(key) == 'string' and key:find('^[_%a][_%w]*$') then
      return key
   end
   return '[' .. value2string(xlua, key) .. ']'
end

return function(xlua)
   -- {1,2,a=3}, or with `newline` one entry a line.
   function xlua.table2string(object, newline)
      local entries, listed = {}, {}
      for i, value in ipairs(object) do
         entries[i] = value2string(xlua, value)
         listed[i] = true
      end
      for key, value in pairs(object) do
         if not listed[key] then
            entries[#entries + 1] = key2string(xlua, key) .. (newline and ' : ' or '=') .. value2string(xlua, value)
         end
      end
      if newline then
         return '{\n   ' .. table.concat(entries, '\n   ') .. '\n}'
      end
      return '{' .. table.concat(entries, ',') .. '}'
   end

   -- A list without `length` (1) elements from `start` (1) on, and those elements.
   rawset(table, 'splice', function(list, start, length)
      start, length = start or 1, length or 1
      local kept, cut = {}, {}
      for i, element in ipairs(list) do
         local into = (i < start or i >= start + length) and kept or cut
         into[#into + 1] = element
      end
      return kept, cut
   end)

   -- The elements of a list that differ (in what `hash` makes of them), equal ones merged by `merge`.
   rawset(table, 'prune', function(list, hash, merge)
      local found = {}
      for _, element in ipairs(list) do
         local key = element
         if hash then
            key = hash(element)
         end
         found[key] = merge and found[key] and merge(element, found[key]) or element
      end
      local pruned = {}
      for _, element in pairs(found) do
         pruned[#pruned + 1] = element
      end
      return pruned
   end)
end
