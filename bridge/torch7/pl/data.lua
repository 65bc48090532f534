-- Tables of data in text files: a line of names, then rows of numbers and words.
local List = require 'pl.List'
local tablex = require 'pl.tablex'
local utils = require 'pl.utils'

local data = {}

local Data = {}
Data.__index = Data
Data._name = 'Data'

-- The cells of a line; a cell in double quotes may hold the delimiter.
local function cells(line, delimiter)
   if delimiter == ' ' or delimiter == '%s+' then
      return utils.split(line:gsub('^%s+', ''):gsub('%s+$', ''), '%s+')
   end
   local found, at = {}, 1
   while true do
      local quoted, behind = line:match('^"([^"]*)"()', at)
      if quoted then
         found[#found + 1], at = quoted, behind
      else
         local first = line:find(delimiter, at, true) or #line + 1
         found[#found + 1], at = line:sub(at, first - 1):gsub('^%s+', ''):gsub('%s+$', ''), first
      end
      local first, last = line:find(delimiter, at, true)
      if not first then
         return found
      end
      at = last + 1
   end
end

local function guess(line)
   for _, delimiter in ipairs{',', '\t', ';'} do
      if line:find(delimiter, 1, true) then
         return delimiter
      end
   end
   return ' '
end

local function convert(cell, options, field)
   if cell == '' and options.numfields then
      return 0
   end
   local own = options.convert and options.convert[field]
   if own then
      return own(cell)
   elseif options.no_convert then
      return cell
   end
   return tonumber(cell) or cell
end

-- Read a file (its name, or an open one). Options: delim, fieldnames (a list, or a text with the delimiter), csv,
-- no_convert, convert (functions by field), last_field_collect.
function data.read(file, options)
   options = options or {}
   local opened = type(file) == 'string'
   if opened then
      local message
      file, message = io.open(file)
      if not file then
         return utils.raise(message)
      end
   end
   local lines = file.lines and function() return file:read() end or file
   local line = lines()
   if not line then
      return utils.raise 'no data in file'
   end
   line = line:gsub('\r$', '')
   local delimiter = options.delim or options.csv and ',' or guess(line)
   local names, first = options.fieldnames, line
   if not names then
      names, first = cells(line:gsub('^#%s*', ''), delimiter), lines()
   elseif type(names) == 'string' then
      names = cells(names, guess(names))
   end
   local table_ = {delim = delimiter, original_fieldnames = tablex.copy(names), fieldnames = List()}
   for i, name in ipairs(names) do
      table_.fieldnames[i] = tostring(name):gsub('%W', '_')
   end
   line = first
   while line do
      line = line:gsub('\r$', '')
      if line:find('%S') then
         local row = List(cells(line, delimiter))
         for i = 1, #row do
            row[i] = convert(row[i], options, table_.fieldnames[i])
         end
         if options.last_field_collect and #row > #names then
            row[#names] = List(tablex.sub(row, #names))
            for i = #row, #names + 1, -1 do
               row[i] = nil
            end
         end
         table_[#table_ + 1] = row
      end
      line = lines()
   end
   if opened then
      file:close()
   end
   return setmetatable(table_, Data)
end

-- Such a table from a list of rows and the names of the fields.
function data.new(rows, names)
   names = names or rows.fieldnames
   if type(names) == 'string' then
      names = utils.split(names, '[,%s]+')
   end
   rows.fieldnames = List(names)
   rows.original_fieldnames = rows.original_fieldnames or tablex.copy(names)
   rows.delim = rows.delim or ','
   return setmetatable(rows, Data)
end

local function column(self, name)
   local i = type(name) == 'number' and name or self.fieldnames:index(name)
   if not i then
      error('no field named ' .. tostring(name) .. '; there are ' .. self.fieldnames:concat(', '), 3)
   end
   return i
end

-- The values of one field.
function Data:column_by_name(name)
   local i = column(self, name)
   local values = List()
   for _, row in ipairs(self) do
      values:append(row[i])
   end
   return values
end

function Data:copy()
   return self:select_row(function() return true end)
end

-- The rows that a test accepts.
function Data:select_row(test)
   local rows = {}
   for _, row in ipairs(self) do
      if test(row) then
         rows[#rows + 1] = List(row)
      end
   end
   return data.new(rows, self.original_fieldnames)
end

-- An iterator over the values of some fields ('a,b', or a list) of the rows that `where` accepts; by `sort_by`.
function Data:select(fields, where, sort_by)
   fields = type(fields) == 'string' and utils.split(fields:gsub('%s', ''), ',') or fields
   local places = {}
   for i, name in ipairs(fields) do
      places[i] = column(self, name)
   end
   local rows = List()
   for _, row in ipairs(self) do
      if not where or where(row) then
         rows:append(row)
      end
   end
   if sort_by then
      local by = column(self, sort_by)
      rows:sort(function(a, b) return a[by] < b[by] end)
   end
   local i = 0
   return function()
      i = i + 1
      local row = rows[i]
      if row then
         local values = {}
         for k, place in ipairs(places) do
            values[k] = row[place]
         end
         return unpack(values, 1, #places)
      end
   end
end

function Data:write(file)
   data.write(self, file, self.original_fieldnames, self.delim)
end


-- Write rows, after a line of names if there are such.
function data.write(rows, file, names, delimiter)
   local opened = type(file) == 'string'
   if opened then
      local message
      file, message = io.open(file, 'w')
      if not file then
         return utils.raise(message)
      end
   end
   delimiter = delimiter or '\t'
   if names and #names > 0 then
      file:write(table.concat(names, delimiter), '\n')
   end
   for _, row in ipairs(rows) do
      local texts = {}
      for i = 1, #row do
         texts[i] = tostring(row[i])
      end
      file:write(table.concat(texts, delimiter), '\n')
   end
   if opened then
      file:close()
   end
   return true
end

return data
