-- A log of numbers: a file with a line for each `add`, and curves of them.
--
-- `plot` draws what Torch7 drew with gnuplot: into `epsfile` (<name>.eps unless a program changes it), and, in the
-- place of a window, <name>.png unless `display(false)` was said. Programs plot after each `add`, so a plot must not
-- cost what all numbers before cost: they are kept in a tensor, of which each drawing gets the part that it shows.
local native = require 'bridge.native'
local paths = require 'paths'
local xlua = require 'xlua'

local Logger = torch.class('optim.Logger')

local kept = setmetatable({}, {__mode = 'k'}) -- list of numbers -> {tensor, how many are in it}

-- The numbers of a list as a vector. What was given out is never changed: only what is behind it, or another tensor.
local function vector(list)
   local entry = kept[list]
   if not entry or entry.count > #list then
      entry = {tensor = torch.DoubleTensor(64), count = 0}
      kept[list] = entry
   end
   if #list > entry.tensor:size(1) then
      local larger = torch.DoubleTensor(2 * #list)
      if entry.count > 0 then
         larger:narrow(1, 1, entry.count):copy(entry.tensor:narrow(1, 1, entry.count))
      end
      entry.tensor = larger
   end
   for i = entry.count + 1, #list do
      entry.tensor[i] = tonumber(list[i]) or 0 / 0 -- words leave a gap
   end
   entry.count = #list
   return entry.tensor:narrow(1, 1, #list)
end

function Logger:__init(filename, timestamp)
   if filename then
      self.name = filename
      paths.mkdir(paths.dirname(filename))
      if timestamp then
         filename = filename .. '-' .. os.date('%Y_%m_%d_%X')
      end
      local file, message = io.open(filename, 'w')
      self.file = file or error('optim.Logger: cannot write the log, ' .. message)
      self.epsfile = self.name .. '.eps'
   else
      self.file = io.stdout
      self.name = 'stdout'
      print('<Logger> warning: no path provided, logging to std out')
   end
   self.empty = true
   self.symbols = {}
   self.styles = {}
   self.names = {}
   self.idx = {}
   self.figure = nil
   self.showPlot = true
   self.plotRawCmd = nil
   self.defaultStyle = '+'
   self.logscale = false
end

-- The columns' names, written as the first line.
function Logger:setNames(names)
   self.names = names
   self.empty = false
   self.nsymbols = #names
   for k, key in pairs(names) do
      self.file:write(key .. '\t')
      self.symbols[k] = {}
      self.styles[k] = {self.defaultStyle}
      self.idx[key] = k
   end
   self.file:write('\n')
   self.file:flush()
   return self
end

-- A line of numbers or strings; the keys of the first one name the columns where setNames has not.
function Logger:add(symbols)
   if self.empty then
      self.empty = false
      self.nsymbols = #symbols
      for k in pairs(symbols) do
         self.file:write(k .. '\t')
         self.symbols[k] = {}
         self.styles[k] = {self.defaultStyle}
         self.names[k] = k
      end
      self.idx = self.names
      self.file:write('\n')
   end
   for _, value in pairs(symbols) do
      if type(value) == 'number' then
         self.file:write(string.format('%11.4e', value) .. '\t')
      elseif type(value) == 'string' then
         self.file:write(value .. '\t')
      else
         xlua.error('can only log numbers and strings', 'Logger')
      end
   end
   self.file:write('\n')
   self.file:flush()
   for k, value in pairs(symbols) do
      if not self.symbols[k] then
         error(string.format('optim.Logger: there is no column %s; setNames or the first add names the columns',
            tostring(k)))
      end
      table.insert(self.symbols[k], value)
   end
   return self
end

-- How columns are drawn: a style or a list of styles for each name (or number, in their order).
function Logger:style(symbols)
   for name, style in pairs(symbols) do
      local column = self.idx[name] or self.symbols[name] and name
      if not column then
         error(string.format('optim.Logger: there is no column %s', tostring(name)))
      elseif type(style) == 'string' then
         self.styles[column] = {style}
      elseif type(style) == 'table' then
         self.styles[column] = style
      else
         xlua.error('style should be a string or a table of strings', 'Logger')
      end
   end
   return self
end

function Logger:setlogscale(state)
   self.logscale = state
end

function Logger:display(state)
   self.showPlot = state
end

-- Name, values and style of each curve of a column, if there is something to connect.
local function curves(self, column, into)
   local list = self.symbols[column]
   if #list < 2 then
      return
   end
   local values = vector(list)
   for _, style in ipairs(self.styles[column]) do
      into[#into + 1] = tostring(self.names[column])
      into[#into + 1] = values
      into[#into + 1] = style
   end
end

local function draw(self, file, list)
   local why = native.python('optim.draw', file, '<Logger::' .. self.name .. '>', self.logscale and true or false,
      unpack(list))
   if why and not self.warned then
      print('<Logger> warning: cannot plot: ' .. why)
      self.warned = true
   end
   return not why
end

-- Draw the named columns, or all.
function Logger:plot(...)
   local list = {}
   if select('#', ...) == 0 or not (...) then
      local columns = {}
      for column in pairs(self.symbols) do
         columns[#columns + 1] = column
      end
      table.sort(columns, function(one, other)
         return type(one) == type(other) and one < other or type(one) == 'number' and type(other) ~= 'number'
      end)
      for _, column in ipairs(columns) do
         curves(self, column, list)
      end
   else
      for _, name in ipairs{...} do
         local column = self.idx[name]
         if not column then
            error(string.format('optim.Logger: there is no column %s to plot', tostring(name)))
         end
         curves(self, column, list)
      end
   end
   if #list == 0 then
      return
   elseif self.showPlot and self.epsfile and not draw(self, self.name .. '.png', list) then
      return
   elseif self.epsfile then
      draw(self, self.epsfile, list)
   elseif not self.warned then
      print('<Logger> warning: cannot plot: there is no file to draw into')
      self.warned = true
   end
end

return Logger
