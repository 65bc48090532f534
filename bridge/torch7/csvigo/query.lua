-- Questions to a table of columns: query('all'), query('vars'), query('inter' or 'union', {column = value or values}).
local HELP = [[
query() or query('all')                          all columns
query('vars')                                    the columns' names
query('union', {var1 = {1, 2}, var2 = 'x'})      the rows where var1 is 1 or 2, or var2 is x
query('inter', {var1 = {1, 2}, var2 = 'x'})      the rows where var1 is 1 or 2, and var2 is x]]

-- Rows by value: index[column][value] lists them.
local function index(columns)
   local found = {}
   for name, values in pairs(columns) do
      found[name] = {}
      for i, value in ipairs(values) do
         found[name][value] = found[name][value] or {}
         table.insert(found[name][value], i)
      end
   end
   return found
end

return function(columns)
   local places = index(columns)

   -- For how many of the wanted columns a row has one of the values, by row.
   local function count(wanted)
      local hits, names = {}, 0
      for name, values in pairs(wanted) do
         local column = places[name]
         if not column then
            error(string.format('csvigo: there is no column %s to ask for', tostring(name)), 3)
         end
         names = names + 1
         local seen = {}
         for _, value in ipairs(type(values) == 'table' and values or {values}) do
            for _, row in ipairs(column[tostring(value)] or {}) do
               if not seen[row] then
                  seen[row] = true
                  hits[row] = (hits[row] or 0) + 1
               end
            end
         end
      end
      return hits, names
   end

   return function(what, wanted)
      what = what or 'all'
      if what == 'help' then
         print(HELP)
         return
      elseif what == 'all' then
         return columns
      elseif what == 'vars' then
         local names = {}
         for name in pairs(columns) do
            names[#names + 1] = name
         end
         return names
      elseif what ~= 'inter' and what ~= 'union' or type(wanted) ~= 'table' then
         error("csvigo: a query is 'all', 'vars', 'help', or 'inter' or 'union' with a table, got " .. tostring(what),
            2)
      end
      local hits, names = count(wanted)
      local rows, least = {}, what == 'inter' and names or 1
      for row, hit in pairs(hits) do
         if hit >= least then
            rows[#rows + 1] = row
         end
      end
      table.sort(rows)
      local filtered = {}
      for name, values in pairs(columns) do
         filtered[name] = {}
         for i, row in ipairs(rows) do
            filtered[name][i] = values[row]
         end
      end
      return filtered
   end
end
