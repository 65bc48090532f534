-- csvigo.File: a file of separated values, record by record.
local parse = require 'csvigo.parse'

local File = torch.class('csvigo.File')

function File:__init(path, mode, separator, nan_as_missing)
   separator = separator or ','
   if type(separator) ~= 'string' or #separator ~= 1 then
      error('csvigo.File: separator must be one character, got ' .. tostring(separator))
   elseif mode ~= nil and mode ~= 'r' and mode ~= 'w' then
      error("csvigo.File: mode must be 'r' or 'w', got " .. tostring(mode))
   end
   local file, message = io.open(path, (mode or 'r') .. 'b')
   if not file then
      error('csvigo.File: ' .. message)
   end
   self.file = file
   self.separator = separator
   self.nan_as_missing = nan_as_missing
   self.path = path
end

function File:close()
   io.close(self.file)
end

local function text(self)
   if not self.text then
      self.text, self.position = self.file:read('*a'), 1
   end
   return self.text
end

-- The next record as a list of strings; nil behind the last.
function File:read()
   local all = text(self)
   if self.position > #all then
      return nil
   end
   local fields
   fields, self.position = parse.record(all, self.position, self.separator)
   return fields
end

-- All records. In mode 'large' each is taken apart when it is asked for: a file costs little more than its text.
function File:readall(mode)
   local all = text(self)
   if mode ~= 'large' then
      return parse.all(all, self.separator)
   end
   local places = parse.all(all, self.separator, true)
   local separator = self.separator
   local function row(_, i)
      return places[i] and (parse.record(all, places[i], separator))
   end
   return setmetatable({}, {
      __index = row,
      __len = function() return #places end,
      __ipairs = function(rows)
         return function(_, i)
            local fields = row(rows, i + 1)
            if fields then
               return i + 1, fields
            end
         end, rows, 0
      end,
      __pairs = function(rows)
         return ipairs(rows)
      end,
   })
end

function File:write(record)
   if type(record) ~= 'table' then
      error('csvigo: a record is a table of values, got ' .. type(record))
   end
   local fields = {}
   for i, value in ipairs(record) do
      if value ~= value and self.nan_as_missing then
         value = ''
      end
      fields[i] = parse.field(value, self.separator)
   end
   self.file:write(table.concat(fields, self.separator), '\n')
end

function File:writeall(records)
   for _, record in ipairs(records) do
      self:write(record)
   end
end
