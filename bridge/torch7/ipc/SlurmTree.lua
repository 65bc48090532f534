-- A tree of a Slurm job's tasks, which meet by a file in a directory that all hosts share. The tasks of one host are
-- joined first, then the hosts.
local DiscoveredTree = require 'ipc.DiscoveredTree'
local links = require 'ipc.links'
local meeting = require 'ipc.meeting'
local paths = require 'paths'
local sys = require 'sys'

local function variable(name)
   local value = os.getenv(name)
   return value or error(string.format('ipc.SlurmTree: %s is not set: it runs in a job of Slurm', name), 3)
end

-- `directory`: by default ~/.torch. `hostAddress`: at which others reach this host, by default its name. The tree has
-- the number of the GPU that this task is to use, `tasksPerGpu` tasks on each, in its field `gpu`.
return function(directory, tasksPerGpu, hostAddress)
   local task, numNodes = tonumber(variable('SLURM_PROCID')), tonumber(variable('SLURM_NTASKS'))
   local tasksPerHost = math.ceil(numNodes / tonumber(variable('SLURM_JOB_NUM_NODES')))
   directory = directory or variable('HOME') .. '/.torch'
   local path = string.format('%s/slurm.%s.server', directory, variable('SLURM_JOBID'))

   local function link(base, n, first, depth, join)
      for start = 0, n - 1, tasksPerHost do
         links(base, math.min(tasksPerHost, n - start), first, depth, function(parent, child)
            join(start + parent, start + child)
         end)
      end
      links(base, math.ceil(n / tasksPerHost), first, depth, function(parent, child)
         join((parent - 1) * tasksPerHost + 1, (child - 1) * tasksPerHost + 1)
      end)
   end

   local tree = DiscoveredTree(task + 1, numNodes, hostAddress or sys.execute('/bin/hostname'), nil,
      function(host, port)
         paths.mkdir(directory)
         meeting.publish(path, host, port)
      end, function()
         return meeting.query(path)
      end, link)
   tree.gpu = math.floor((task % tasksPerHost) / (tasksPerGpu or 1)) + 1
   return tree
end
