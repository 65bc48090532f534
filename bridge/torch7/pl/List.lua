-- Lists with the methods of Python's; positions count from 1, negative ones from the end.
local class = require 'pl.class'
local tablex = require 'pl.tablex'
local utils = require 'pl.utils'

local List = class()
List._name = 'List'

local function new(object)
   return setmetatable(object or {}, List)
end

-- A list of a table's elements (a copy), or of what an iterator gives.
function List:_init(source)
   if source == nil then
      return
   elseif type(source) == 'string' then
      for character in source:gmatch('.') do
         self[#self + 1] = character
      end
   elseif type(source) == 'table' and not (getmetatable(source) or {}).__call then
      for i = 1, #source do
         self[i] = source[i]
      end
   else
      for value in source do
         self[#self + 1] = value
      end
   end
end

function List:clone()
   return new(self:slice(1))
end

-- ---- changing

function List:append(value)
   self[#self + 1] = value
   return self
end

function List:extend(other)
   for i = 1, #other do
      self[#self + 1] = other[i]
   end
   return self
end

function List:insert(i, value)
   table.insert(self, i, value)
   return self
end

function List:put(value)
   return self:insert(1, value)
end

function List:remove(i)
   table.remove(self, i)
   return self
end

function List:remove_value(value)
   for i = 1, #self do
      if self[i] == value then
         table.remove(self, i)
         break
      end
   end
   return self
end

function List:pop(i)
   return table.remove(self, i or #self)
end
List.get = List.pop

function List:clear()
   tablex.clear(self)
   return self
end

function List:sort(order)
   if order then
      order = utils.function_arg(1, order)
   end
   table.sort(self, order)
   return self
end

function List:sorted(order)
   return self:clone():sort(order)
end

function List:reverse()
   local n = #self
   for i = 1, math.floor(n / 2) do
      self[i], self[n + 1 - i] = self[n + 1 - i], self[i]
   end
   return self
end

-- Remove from first to last; put a list in at a position; replace a range.
function List:chop(first, last)
   first, last = tablex._normalize_slice(self, first, last)
   for _ = first, last do
      table.remove(self, first)
   end
   return self
end

function List:splice(i, other)
   for k = 1, #other do
      table.insert(self, i + k - 1, other[k])
   end
   return self
end

function List:slice_assign(first, last, other)
   first, last = tablex._normalize_slice(self, first, last)
   if last >= first then
      self:chop(first, last)
   end
   return self:splice(first, other)
end

function List:transform(f, ...)
   tablex.transform(f, self, ...)
   return self
end

-- ---- asking

function List:index(value, from)
   return tablex.find(self, value, from)
end

function List:contains(value)
   return tablex.find(self, value) ~= nil
end

function List:count(value)
   local n = 0
   for i = 1, #self do
      if self[i] == value then
         n = n + 1
      end
   end
   return n
end

function List:len()
   return #self
end

function List:slice(first, last)
   return new(tablex.sub(self, first, last))
end

function List:minmax()
   local smallest, largest = math.huge, -math.huge
   for i = 1, #self do
      smallest, largest = math.min(smallest, self[i]), math.max(largest, self[i])
   end
   return smallest, largest
end

function List:concat(separator)
   local texts = {}
   for i = 1, #self do
      texts[i] = tostring(self[i])
   end
   return table.concat(texts, separator)
end

function List:join(separator)
   return self:concat(separator or '')
end

-- ---- functions over all

function List:map(f, ...)
   return tablex.imap(f, self, ...)
end

function List:map2(f, other, ...)
   return new(tablex.imap2(f, self, other, ...))
end

function List:mapm(name, ...)
   return tablex.map_named_method(name, self, ...)
end

function List:filter(test, argument)
   return tablex.filter(self, test, argument)
end

function List:reduce(f, first)
   return tablex.reduce(f, self, first)
end

function List:foreach(f, ...)
   f = utils.function_arg(1, f)
   for i = 1, #self do
      f(self[i], ...)
   end
end

function List:foreachm(name, ...)
   for i = 1, #self do
      self[i][name](self[i], ...)
   end
end

-- Lists by what a function says of their elements.
function List:partition(f, ...)
   f = utils.function_arg(1, f)
   local parts = {}
   for i = 1, #self do
      local key = f(self[i], ...)
      if key == nil then
         key = '<nil>'
      end
      parts[key] = parts[key] or List()
      parts[key]:append(self[i])
   end
   return setmetatable(parts, require 'pl.Map')
end

function List:iter()
   return List.iterate(self)
end

-- ---- making

function List.range(first, last, step)
   if not last then
      first, last = 1, first
   end
   return new(tablex.range(first, last, step))
end

function List.split(text, separator)
   return new(utils.split(text, separator))
end

-- An iterator over the elements of a list, the characters of a string, the lines of a file.
function List.iterate(source)
   if type(source) == 'string' then
      return source:gmatch('.')
   elseif io.type(source) then
      return source:lines()
   elseif type(source) == 'function' then
      return source
   end
   local i = 0
   return function()
      i = i + 1
      return source[i]
   end
end

function List.default_map_with(what)
   return function(self, name)
      return function(_, ...)
         return self:map(what[name], ...)
      end
   end
end

function List.__concat(a, b)
   return new(a):clone():extend(b)
end

function List.__eq(a, b)
   return #a == #b and tablex.compare(a, b, function(x, y) return x == y end)
end

function List:__tostring()
   local texts = {}
   for i = 1, #self do
      texts[i] = tostring(self[i])
   end
   return '{' .. table.concat(texts, ',') .. '}'
end

List.new, List.push = List, List.append

return List
