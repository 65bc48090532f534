-- What programs reach by name of `t[key]` and `#storage`: __index__ and __newindex__ say, after the value, whether the
-- key is one that a tensor or storage understands; __len__ is the operator's other name.
local elements = require 'torch.elements'
local object = require 'torch.object'
local index = require 'torch.index'

local LONG = elements.Long.id

-- Is this a position of a tensor? Other keys name methods.
local function position(key)
   return type(key) == 'number' or type(key) == 'table' or index.ismask(key)
      or object.storagetype(key) == LONG
end

local function number(key)
   return type(key) == 'number'
end

local function install(metatable, understood)
   metatable.__index__ = function(self, key)
      if understood(key) then
         return getmetatable(self).__index(self, key), true
      end
      return false
   end
   metatable.__newindex__ = function(self, key, value)
      if understood(key) then
         getmetatable(self).__newindex(self, key, value)
         return true
      end
      return false
   end
end

return function()
   for id = 0, elements.count - 1 do
      install(object.metatables[id], position)
      local storages = object.storagemetatables[id]
      install(storages, number)
      storages.__len__ = storages.size
   end
end
