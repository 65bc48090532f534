-- Reading functions from files, as Torch7's File.lua does it: bytecode for loadstring, then the upvalues.
local FUNCTION, TABLE = 8, 3

local File = torch.class('torch.File')

function File:__init(path) self.file = assert(io.open(path, 'rb')) end

function File:readInt()
   local a, b, c, d = self.file:read(4):byte(1, 4)
   return a + 256 * (b + 256 * (c + 256 * d))
end

function File:readObject()
   local kind = self:readInt()
   self:readInt() -- its number among the file's objects
   if kind == FUNCTION then
      return assert(loadstring(self.file:read(self:readInt())))
   end
   assert(kind == TABLE, 'only functions can be read')
end

function torch.load(path) return torch.File(path):readObject() end
