-- A batch in parts, one for each replica of a module; outputs are joined, gradients summed in the first replica.
--
-- Replicas are assigned to GPUs by number. Numbers beyond the devices that are there count on from the first one, so a
-- model for eight GPUs runs on one, or on none: then its tensors are what the module's are.
local split = require 'cunn.split'

local DataParallelTable, parent = torch.class('nn.DataParallelTable', 'nn.Container')

local replicas = require 'cunn.replicas'

DataParallelTable.__version = 3

function DataParallelTable:__init(dimension, flattenParams, usenccl)
   parent.__init(self)
   if type(dimension) ~= 'number' then
      error('nn.DataParallelTable: must specify a dimension, the one that is split, got ' .. torch.type(dimension))
   elseif usenccl and not flattenParams then
      error('nn.DataParallelTable: cannot use nccl without flattenParams')
   end
   self.dimension = dimension
   self.gpuAssignments = {}
   self.inputGpu = {}
   self.gradOutputGpu = {}
   self.outputGpu = {}
   self.gradInputGpu = {}
   self.flattenedParams = nil
   self.flattenParams = flattenParams or false
   self.usenccl = false -- replicas exchange through memory they all see
   self.needsSync = false
   self.impl = replicas.Basic(self)
end

-- Add a module for all the GPUs of a list; or, once for each GPU, for a number (the first module is then used for all).
function DataParallelTable:add(module, gpus)
   if type(gpus) == 'number' then
      self.modules[1] = self.modules[1] or module
      table.insert(self.gpuAssignments, gpus)
      self.impl:close()
      return self
   elseif torch.type(gpus) ~= 'table' or #gpus == 0 then
      error('nn.DataParallelTable: table of GPU IDs required, got ' .. torch.type(gpus))
   elseif #self.modules > 0 then
      error('nn.DataParallelTable: add should only be called once with a table of GPU assignments')
   end
   self.modules[1] = module
   self.gpuAssignments = gpus
   return self
end

-- `initFunc` is what each thread would do first.
function DataParallelTable:threads(initFunc)
   self.impl:close()
   self.impl = replicas.Threads(self, initFunc)
   return self
end

function DataParallelTable:__tostring()
   return 'DataParallelTable: ' .. #self.gpuAssignments .. ' x ' .. tostring(self.modules[1])
end

function DataParallelTable:get(index)
   return self.modules[index]
end

-- Call a function with the device of replica i.
function DataParallelTable:onDevice(i, f)
   local devices = cutorch.getDeviceCount()
   if devices == 0 then
      return f()
   end
   return cutorch.withDevice((self.gpuAssignments[i] - 1) % devices + 1, f)
end

-- The tensors that the replicas compute with.
local function tensortype(self)
   local parameters = self.modules[1]:parameters()
   return parameters and parameters[1] and parameters[1]:type() or self.modules[1]:type()
end

-- ---- parameters

-- Let each replica's parameters be one vector, and its gradients another.
function DataParallelTable:flattenParameters()
   self.flattenedParams = self.impl:exec(function(module)
      return {module:getParameters()}
   end)
   self.flattenParams = true
end

function DataParallelTable:getParameters()
   self:flattenParameters()
   return unpack(self.flattenedParams[1])
end

local function flattened(self)
   if not self.flattenedParams then
      return false
   end
   local storage = self.flattenedParams[1][1]:storage()
   for _, parameter in ipairs(self.modules[1]:parameters() or {}) do
      if parameter:storage() ~= storage then
         return false
      end
   end
   return true
end

-- For each replica its parameters and their gradients.
function DataParallelTable:moduleParameters()
   if flattened(self) then
      local list = {}
      for i, flat in ipairs(self.flattenedParams) do
         list[i] = {{flat[1]}, {flat[2]}}
      end
      return list
   end
   return self.impl:exec(function(module)
      local parameters, gradients = module:parameters()
      return {parameters or {}, gradients or {}}
   end)
end

-- Give all replicas the parameters of the first.
function DataParallelTable:syncParameters()
   local list = self:moduleParameters()
   for i = 2, #list do
      for k, parameter in ipairs(list[i][1]) do
         parameter:copy(list[1][1][k])
      end
   end
   self.needsSync = false
end

-- Sum the gradients in the first replica.
local function reduce(self)
   local list = self:moduleParameters()
   for i = 2, #list do
      for k, gradient in ipairs(list[i][2]) do
         local sum = list[1][2][k]
         sum:add(gradient:type(sum:type()))
         gradient:zero()
      end
   end
   self.needsSync = true
end

function DataParallelTable:parameters()
   return self.modules[1]:parameters()
end

function DataParallelTable:zeroGradParameters()
   self.impl:exec(function(module) module:zeroGradParameters() end)
end

function DataParallelTable:updateParameters(learningRate)
   self.modules[1]:updateParameters(learningRate)
   self:syncParameters()
end

function DataParallelTable:reset(stdv)
   self.modules[1]:reset(stdv)
   self:syncParameters()
end

-- ---- forward and backward

-- Part i of `source` for each replica; how many replicas got something.
local function distribute(self, into, source)
   local n, typename = #self.gpuAssignments, tensortype(self)
   for i = 1, n do
      into[i] = self:onDevice(i, function()
         return split.part(into[i], source, self.dimension, i, n, typename)
      end)
      if not split.filled(into[i]) then
         return i - 1
      end
   end
   return n
end

function DataParallelTable:updateOutput(input)
   if self.flattenParams and not flattened(self) then
      self:flattenParameters()
   end
   if self.needsSync then
      self:syncParameters()
   end
   self.maxUsedGpu = distribute(self, self.inputGpu, input)
   if self.maxUsedGpu == 0 then
      error('nn.DataParallelTable: the input is empty')
   end
   self.outputGpu = self.impl:exec(function(module, i)
      return module:updateOutput(self.inputGpu[i])
   end, self.maxUsedGpu)
   self.output = split.join(self.output, self.outputGpu, self.dimension, tensortype(self))
   return self.output
end

-- The gradient of the input by a replicas' method that makes it.
local function backward(self, method, gradOutput, scale)
   distribute(self, self.gradOutputGpu, gradOutput)
   self.gradInputGpu = self.impl:exec(function(module, i)
      return module[method](module, self.inputGpu[i], self.gradOutputGpu[i], scale)
   end, self.maxUsedGpu)
   if self.gradInput then
      self.gradInput = split.join(self.gradInput, self.gradInputGpu, self.dimension, tensortype(self))
   end
   return self.gradInput
end

function DataParallelTable:backward(_, gradOutput, scale)
   backward(self, 'backward', gradOutput, scale)
   reduce(self)
   return self.gradInput
end

function DataParallelTable:updateGradInput(_, gradOutput)
   return backward(self, 'updateGradInput', gradOutput)
end

-- After updateGradInput, which has distributed the gradient.
function DataParallelTable:accGradParameters(_, _, scale)
   self.impl:exec(function(module, i)
      module:accGradParameters(self.inputGpu[i], self.gradOutputGpu[i], scale)
   end, self.maxUsedGpu)
   reduce(self)
end

function DataParallelTable:accUpdateGradParameters()
   error('accUpdateGradParameters not supported for DataParallelTable.')
end

-- ---- all replicas alike

for _, name in ipairs{'training', 'evaluate'} do
   DataParallelTable[name] = function(self)
      self.impl:exec(function(module) module[name](module) end)
      parent[name](self)
   end
end

function DataParallelTable:clearState()
   self.impl:exec(function(module) module:clearState() end)
   for _, name in ipairs{'inputGpu', 'outputGpu', 'gradInputGpu', 'gradOutputGpu'} do
      self[name] = {}
   end
   return parent.clearState(self)
end

function DataParallelTable:share()
   error('Share not supported for DataParallelTable')
end

function DataParallelTable:clone(...)
   if select('#', ...) > 0 then
      error('Sharing not supported for DataParallelTable')
   end
   return parent.clone(self)
end

-- What changes the module changes all: the replicas are made anew.
local function renew(self)
   self.flattenedParams = nil
   self.impl:applyChanges()
end

function DataParallelTable:type(typename, tensorCache)
   if not typename then
      return self._type
   end
   for _, module in ipairs(self.modules) do
      module:type(typename, tensorCache)
   end
   for _, name in ipairs{'inputGpu', 'outputGpu', 'gradInputGpu', 'gradOutputGpu'} do
      self[name] = {}
   end
   self.output = nn.utils.recursiveType(self.output, typename)
   self.gradInput = self.gradInput and nn.utils.recursiveType(self.gradInput, typename)
   self._type = typename
   renew(self)
   return self
end

function DataParallelTable:apply(callback)
   parent.apply(self, callback)
   renew(self)
end

function DataParallelTable:replace(callback)
   local out = parent.replace(self, callback)
   renew(self)
   return out
end

-- ---- files: first the assignments, then the fields without what belongs to replicas

-- deserializeNGPUs: how many replicas a model from a file gets, in place of as many as it had.
local function assigned(list)
   local count = DataParallelTable.deserializeNGPUs
   if not count then
      return list
   end
   local made = {}
   for i = 1, count do
      made[i] = i
   end
   return made
end

function DataParallelTable:__read(file, version)
   local assignments = version >= 2 and file:readObject() or nil
   for name, value in pairs(file:readObject()) do
      self[name] = value
   end
   self.gpuAssignments = assigned(assignments or self.gpuAssignments)
   self.flattenedParams = nil
   self.usenccl = false
   self.modules = {self.modules[1]} -- version 1 wrote the replicas
   self.impl = self.impl or replicas.Basic(self)
end

local OWN = {inputGpu = true, outputGpu = true, gradInputGpu = true, gradOutputGpu = true}

function DataParallelTable:__write(file)
   file:writeObject(self.gpuAssignments)
   local fields = {}
   for name, value in pairs(self) do
      if OWN[name] then
         fields[name] = {}
      elseif name == 'flattenedParams' then
         fields[name] = {value[1]}
      elseif name ~= 'buffer' then
         fields[name] = value
      end
   end
   file:writeObject(fields)
   self:syncParameters()
end
