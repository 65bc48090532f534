-- Tables as maps from keys to values.
local class = require 'pl.class'
local List = require 'pl.List'
local tablex = require 'pl.tablex'

local Map = class()
Map._name = 'Map'

function Map:_init(source)
   if source then
      self:update(source)
   end
end

Map.keys = tablex.keys
Map.values = tablex.values

function Map:iter()
   return pairs(self)
end

-- The pairs as a list of {key, value}, in order of keys.
function Map:items()
   local items = List()
   for key, value in pairs(self) do
      items:append(List{key, value})
   end
   table.sort(items, function(a, b) return tostring(a[1]) < tostring(b[1]) end)
   return items
end

function Map:setdefault(key, value)
   if self[key] == nil then
      self:set(key, value)
   end
   return self[key]
end

function Map:set(key, value)
   self[key] = value
end

function Map:get(key)
   return rawget(self, key)
end

function Map:len()
   return tablex.size(self)
end

function Map:getvalues(keys)
   return tablex.index_by(self, keys)
end

function Map:update(other)
   for key, value in pairs(other) do
      self:set(key, value)
   end
   return self
end

function Map.__eq(a, b)
   return tablex.deepcompare(a, b, true)
end

function Map:__tostring()
   return require('pl.pretty').write(self, '')
end

return Map
