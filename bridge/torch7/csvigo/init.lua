-- The csvigo package: files of comma-separated values. Values are strings, as they stand in the file.
require 'torch'
local xlua = require 'xlua'

csvigo = {}
package.loaded.csvigo = csvigo

require 'csvigo.File'
local query = require 'csvigo.query'

local function place(path)
   return (path:gsub('^~', os.getenv('HOME') or '~'))
end

local function speaker(verbose)
   return verbose and function(text) print('<csv>', text) end or function() end
end

-- Rows as columns: name -> values, and the names in their order.
local function columns(rows, header, skip)
   local first, names, tidy = skip + 1, {}, {}
   if not rows[first] then
      error(string.format('csvigo.load: there is no line %d to take the columns from', first), 3)
   end
   for i, name in ipairs(rows[first]) do
      names[i] = header and name or 'var_' .. i
      tidy[names[i]] = {}
   end
   for i = header and first + 1 or first, #rows do
      for k, value in ipairs(rows[i]) do
         if not names[k] then
            error(string.format('csvigo.load: line %d has more fields than the %d columns', i, #names), 3)
         end
         table.insert(tidy[names[k]], value)
      end
   end
   return tidy, names
end

-- csvigo.load{path=, mode=}: in mode 'raw' a list of rows, 'large' the same but rows are made when they are asked for,
-- 'tidy' a table of columns by name, 'query' a function that picks rows.
function csvigo.load(...)
   local arguments, path, separator, mode, header, verbose, skip = xlua.unpack({...}, 'csvigo.load',
      'Load a file of separated values.',
      {arg = 'path', type = 'string', help = 'path to file', req = true},
      {arg = 'separator', type = 'string', help = 'separator (one character)', default = ','},
      {arg = 'mode', type = 'string', help = 'load mode: raw | tidy | query | large', default = 'tidy'},
      {arg = 'header', type = 'boolean', help = 'the first line has the names', default = true},
      {arg = 'verbose', type = 'boolean', help = 'print what is done', default = true},
      {arg = 'skip', type = 'number', help = 'skip this many lines', default = 0},
      {arg = 'column_order', type = 'boolean', help = 'return the order of columns too', default = false})
   if mode ~= 'raw' and mode ~= 'tidy' and mode ~= 'query' and mode ~= 'large' then
      error("csvigo.load: mode is 'raw', 'tidy', 'query' or 'large', got " .. tostring(mode), 2)
   end
   local say = speaker(verbose)
   path = place(path)
   say('parsing file: ' .. path)
   local file = csvigo.File(path, 'r', separator)
   local rows = file:readall(mode)
   file:close()
   if mode == 'raw' or mode == 'large' then
      say('parsing done')
      return rows
   end
   say('tidying up entries')
   local tidy, names = columns(rows, header, skip)
   if mode == 'query' then
      say('generating reversed index for fast queries')
      say("returning query closure, type query('help') to get help")
      return query(tidy)
   end
   say('returning tidy table')
   if arguments.column_order then
      return names, tidy
   end
   return tidy
end

-- Columns as rows, in the order of their names' list.
local function rows(data, order)
   local list = {}
   for _, name in ipairs(order) do
      for i, value in ipairs(data[name] or error('csvigo.save: there is no column ' .. tostring(name), 3)) do
         list[i] = list[i] or {}
         table.insert(list[i], value)
      end
   end
   return list
end

-- csvigo.save{path=, data=}: a list of rows, a table of columns, or a query's function.
function csvigo.save(...)
   local arguments, path, data, separator, mode, header, verbose = xlua.unpack({...}, 'csvigo.save',
      'Save a table as a file of separated values.',
      {arg = 'path', type = 'string', help = 'path to file', req = true},
      {arg = 'data', type = 'table', help = 'what to save', req = true},
      {arg = 'separator', type = 'string', help = 'separator (one character)', default = ','},
      {arg = 'mode', type = 'string', help = 'what data is: raw | tidy | query', default = 'autodetect'},
      {arg = 'header', type = 'boolean', help = 'write the names first', default = true},
      {arg = 'verbose', type = 'boolean', help = 'print what is done', default = true},
      {arg = 'column_order', type = 'table', help = 'the order of columns'},
      {arg = 'nan_as_missing', type = 'boolean', help = 'write nothing for NaN', default = false})
   if mode == 'autodetect' then
      mode = type(data) == 'function' and 'query' or #data == 0 and 'tidy' or 'raw'
   elseif mode ~= 'raw' and mode ~= 'tidy' and mode ~= 'query' then
      error("csvigo.save: mode is 'raw', 'tidy' or 'query', got " .. tostring(mode), 2)
   end
   local say = speaker(verbose)
   path = place(path)
   local order = arguments.column_order
   if mode ~= 'raw' then
      data = mode == 'query' and data('all') or data
      if not order then
         order = {}
         for name in pairs(data) do
            order[#order + 1] = name
         end
         table.sort(order, function(a, b) return tostring(a) < tostring(b) end)
      end
      data = rows(data, order)
   end
   say('writing to file: ' .. path)
   local file = csvigo.File(path, 'w', separator, arguments.nan_as_missing)
   if mode ~= 'raw' and header then
      file:write(order)
   end
   file:writeall(data)
   file:close()
   say('writing done')
end

return csvigo
