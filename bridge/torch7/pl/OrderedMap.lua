-- Maps that keep their keys in the order in which they came.
local class = require 'pl.class'
local List = require 'pl.List'
local Map = require 'pl.Map'

local OrderedMap = class(Map)
OrderedMap._name = 'OrderedMap'

local orders = setmetatable({}, {__mode = 'k'}) -- map -> its keys, in `list`, and as a set in `known`

-- The keys in order. A field that exists is set to nil without a word to us: its key goes now.
local function keysof(map)
   local order = orders[map]
   for i = #order.list, 1, -1 do
      local key = order.list[i]
      if rawget(map, key) == nil then
         table.remove(order.list, i)
         order.known[key] = nil
      end
   end
   return order.list
end

function OrderedMap:_init(source)
   orders[self] = {list = List(), known = {}}
   if source then
      self:update(source)
   end
end

-- From another ordered map, a table, or a list of {key = value} tables.
function OrderedMap:update(source)
   if OrderedMap:class_of(source) then
      for key, value in source:iter() do
         self:set(key, value)
      end
   elseif type(source) == 'table' and #source > 0 then
      for _, pair in ipairs(source) do
         if type(pair) ~= 'table' then
            error('expecting a table of key-value pairs', 2)
         end
         self:set(next(pair))
      end
   else
      for key, value in pairs(source) do
         self:set(key, value)
      end
   end
   return self
end

function OrderedMap:set(key, value)
   local order = orders[self]
   if rawget(self, key) == nil and value ~= nil then
      if order.known[key] then -- set to nil since
         keysof(self)
      end
      order.list:append(key)
      order.known[key] = true
   end
   rawset(self, key, value)
   return self
end

OrderedMap.__newindex = OrderedMap.set

-- Put a pair at a position (the end).
function OrderedMap:insert(at, key, value)
   if value == nil then
      at, key, value = nil, at, key
   end
   local keys = keysof(self)
   if rawget(self, key) ~= nil then
      keys:remove_value(key)
   end
   orders[self].known[key] = true
   if at then
      keys:insert(at, key)
   else
      keys:append(key)
   end
   rawset(self, key, value)
   return self
end

function OrderedMap:keys()
   return keysof(self)
end

function OrderedMap:values()
   return self:getvalues(keysof(self))
end

function OrderedMap:sort(order)
   keysof(self):sort(order)
   return self
end

function OrderedMap:iter()
   local keys, i = keysof(self), 0
   return function()
      i = i + 1
      local key = keys[i]
      if key ~= nil then
         return key, rawget(self, key)
      end
   end
end

function OrderedMap:__pairs()
   return self:iter()
end

function OrderedMap:items()
   local items = List()
   for key, value in self:iter() do
      items:append(List{key, value})
   end
   return items
end

function OrderedMap:__tostring()
   local texts = {}
   for key, value in self:iter() do
      local text = type(value) == 'string' and ('%q'):format(value) or tostring(value)
      texts[#texts + 1] = tostring(key) .. '=' .. text
   end
   return '{' .. table.concat(texts, ',') .. '}'
end

return OrderedMap
