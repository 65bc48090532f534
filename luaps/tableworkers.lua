-- TableWorkers: a worker's workers of named tables. Their clocks are as that worker's, and they end with it.
local TableWorkers = {}
TableWorkers.__index = TableWorkers

local tableworkers = {}

function tableworkers.new()
   return setmetatable({byname = {}, all = {}}, TableWorkers)
end

-- Whether a worker was not finalized, nor its table dropped.
local function works(worker)
   return not worker.finalized and worker.node:is_open()
end

-- The worker of the table `name`; nil if there is none that works.
function TableWorkers:find(name)
   local found = self.byname[name]
   return found and works(found) and found or nil
end

function TableWorkers:add(name, worker)
   local all = {worker}
   for _, other in ipairs(self.all) do
      if works(other) then
         all[#all + 1] = other
      end
   end
   self.byname[name], self.all = worker, all
end

local function bring(worker, clock)
   while worker:current_clock() < clock do
      worker:advance_clock()
   end
end

-- Bring the clocks of all that work to `clock`.
function TableWorkers:follow(clock)
   for i = 1, #self.all do
      local worker = self.all[i]
      if works(worker) then
         local ok, message = pcall(bring, worker, clock)
         if not ok and works(worker) then -- it was not dropped meanwhile
            error(message, 0)
         end
      end
   end
end

-- Finalize all of them; returns the first error, or false.
function TableWorkers:finalize(timeout)
   local failure = false
   for _, worker in ipairs(self.all) do
      local ok, message = pcall(worker.finalize, worker, timeout)
      failure = failure or not ok and message
   end
   return failure
end

return tableworkers
