-- Batches that threads load while the program computes, as image programs wrote them: the file that the threads run is
-- found beside this one.
local threads = require 'threads'
threads.Threads.serialization('threads.sharedserialize')

local donkeys = {}
local result = {}

function donkeys.new(count, options)
   local self = {}
   for name, value in pairs(donkeys) do
      self[name] = value
   end
   local file = 'donkey.lua'
   if count > 0 then
      self.threads = threads.Threads(count, function() require 'torch' end, function(number)
         opt = options
         tid = number
         torch.manualSeed((opt.seed or 0) + number)
         torch.setnumthreads(1)
         assert(options, 'no options')
         paths.dofile(file)
      end)
   else
      opt = options
      paths.dofile(file)
      self.threads = {}
      function self.threads:addjob(job, after) after(job()) end
      function self.threads:dojob() end
      function self.threads:synchronize() end
   end
   local size = 0
   self.threads:addjob(function() return loader:size() end, function(found) size = found end)
   self.threads:synchronize()
   self.count = size
   for _ = 1, count do
      self.threads:addjob(self.get, self.put)
   end
   return self
end

function donkeys.get()
   return loader:sample(opt.batch)
end

function donkeys.put(...)
   result[1] = {...}
end

function donkeys:batch()
   self.threads:addjob(self.get, self.put)
   self.threads:dojob()
   return unpack(result[1])
end

function donkeys:stop()
   self.threads:synchronize()
   if self.threads.terminate then
      self.threads:terminate()
   end
end

return donkeys
