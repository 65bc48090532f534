-- ipc.marshal(value [, upvalues]): a value written once, to be read as often as wanted, in any thread.
local torch = require 'torch'
local sharedserialize = require 'threads.sharedserialize'
local closures = require 'ipc.closures'

local home = {}
local Marshal = torch.class('ipc.marshal', home)

-- Tensors in it are the same ones every time; all else is new.
function Marshal:read()
   return sharedserialize.load(self.storage)
end

-- Between threads of this process its bytes are shared too.
function Marshal:__write(file)
   file:writeObject(self.storage)
end

function Marshal:__read(file)
   self.storage = file:readObject()
end

return function(value, upvalues)
   if not upvalues then
      closures('ipc.marshal(value, true) takes it with them', value)
   end
   local self = torch.factory('ipc.marshal')()
   self.storage = sharedserialize.save(value)
   return self
end
