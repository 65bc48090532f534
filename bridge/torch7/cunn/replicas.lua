-- How an nn.DataParallelTable calls its replicas, of which the first is the module itself. Files do not hold the
-- replicas.
--
-- In Torch7, `Basic` calls them one after the other and `Threads` from one thread per GPU. Here both call them one
-- after the other: a kernel uses all cores as it is. The names are those in files.
local replicas = {}

local Basic = torch.class('nn.DataParallelTable.Basic', replicas)
local Threads = torch.class('nn.DataParallelTable.Threads', replicas)

function Basic:__init(dpt)
   self.dpt = dpt
end

-- `initFunc` prepares each thread, where threads are in use: it runs once.
function Threads:__init(dpt, initFunc)
   self.dpt = dpt
   self.initFunc = initFunc
end

function Basic:prepare()
end

function Threads:prepare()
   if self.initFunc then
      self.initFunc()
   end
end

-- Make replicas of what the module is now.
function Basic:applyChanges()
   if self.modules then
      local module = self.dpt.modules[1]
      self.modules = {module}
      for i = 2, #self.dpt.gpuAssignments do
         self.modules[i] = self.dpt:onDevice(i, function() return module:clone() end)
      end
   end
end

function Basic:setup()
   if not self.modules then
      self:prepare()
      self.modules = {}
      self:applyChanges()
   end
end

-- What `closure(replica, i)` returns for the first `count` replicas (all).
function Basic:exec(closure, count)
   self:setup()
   local results = {}
   for i = 1, math.min(count or math.huge, #self.dpt.gpuAssignments) do
      results[i] = self.dpt:onDevice(i, function() return closure(self.modules[i], i) end)
   end
   return results
end

function Basic:close()
   self.modules = nil
end

function Basic:__write(file)
   local fields = {}
   for name, value in pairs(self) do
      if name ~= 'modules' and file:isWritableObject(value) then
         fields[name] = value
      end
   end
   file:writeObject(fields)
end

for name, method in pairs{applyChanges = Basic.applyChanges, setup = Basic.setup, exec = Basic.exec,
   close = Basic.close, __write = Basic.__write} do
   Threads[name] = method
end

return replicas
