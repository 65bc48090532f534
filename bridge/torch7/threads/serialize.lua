-- Values as bytes on their way between Lua states: everything is copied.
local torch = require 'torch'
local trust = require('torch.file').trust

local serialize = {}

-- A CharStorage with an object in it.
function serialize.save(object)
   local file = torch.MemoryFile()
   file:binary()
   trust(file)
   file:writeObject(object)
   local storage = file:storage()
   file:close()
   return storage
end

-- The object that is in a CharStorage.
function serialize.load(storage)
   local file = torch.MemoryFile(storage, 'r')
   file:binary()
   trust(file)
   local object = file:readObject()
   file:close()
   return object
end

return serialize
