-- Each feature with mean 0 and variance 1 over the batch, then times its weight and plus its bias. In evaluation, mean
-- and variance are those that training averaged; so they are in training where the batch has one sample, which leaves
-- the averages, save_mean and save_std as they are.
local native = require 'bridge.native'
local elements = require 'torch.elements'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local aten = require 'torch.aten'
local demand = require 'nn.shared.demand'

local BatchNormalization, parent = torch.class('nn.BatchNormalization', 'nn.Module')

BatchNormalization.__version = 2
BatchNormalization.nDim = 2 -- dimensions of a batch
BatchNormalization.leastBatch = 2 -- samples that a batch needs for statistics of its own

local forward = aten.op('native_batch_norm.out', 'T?T?T?T?TbffTTT', 3)
local plain = aten.op('native_batch_norm.out', 'Tnn?T?TbffTTT', 3)
local backward = aten.into('native_batch_norm_backward', 'TT?T?T?T?T?TbfI', 3)
local plainbackward = aten.into('native_batch_norm_backward', 'TTn?T?T?T?TbfI', 3)

local INPUT, PARAMETERS, BOTH = aten.list{1, 0, 0}, aten.list{0, 1, 1}, aten.list{1, 1, 1}
local buffers = {} -- role and type -> tensor: results of torch that are not used, gradients to add

local function buffer(role, dtype)
   local key = role .. dtype
   buffers[key] = buffers[key] or object.newtensor(dtype)
   return buffers[key]
end

-- The type of a batch's mean and standard deviation: the input's, but floats of halves on a GPU.
local function statistic(input)
   local dtype = object.dtype(input)
   local storage = object.tensor(input).storage
   if dtype == elements.DEVICE + elements.Half.id and native.C.br_device_hidden(storage.block.device) == 0 then
      return elements.DEVICE + elements.Float.id
   end
   return dtype
end

function BatchNormalization:__init(nOutput, eps, momentum, affine)
   parent.__init(self)
   assert(nOutput and type(nOutput) == 'number', 'Missing argument #1: dimensionality of input. ')
   assert(nOutput ~= 0, 'To set affine=false call BatchNormalization(nOutput,  eps, momentum, false) ')
   assert(affine == nil or type(affine) == 'boolean', 'affine has to be true/false')
   self.affine = affine == nil or affine
   self.eps = eps or 1e-5
   self.train = true
   self.momentum = momentum or 0.1
   self.running_mean = torch.zeros(nOutput)
   self.running_var = torch.ones(nOutput)
   if self.affine then
      self.weight = torch.Tensor(nOutput)
      self.bias = torch.Tensor(nOutput)
      self.gradWeight = torch.Tensor(nOutput):zero()
      self.gradBias = torch.Tensor(nOutput):zero()
      self:reset()
   end
end

function BatchNormalization:reset()
   if self.weight then
      self.weight:uniform()
   end
   if self.bias then
      self.bias:zero()
   end
   self.running_mean:zero()
   self.running_var:fill(1)
end

function BatchNormalization:checkInputDim(input)
   local dimensions = input:dim()
   local single = dimensions == self.nDim - 1 and self.train == false
   if dimensions ~= self.nDim and not single then
      error(string.format('only mini-batch supported (%dD tensor), got %dD tensor instead', self.nDim, dimensions))
   end
   local features = input:size(single and 1 or 2)
   if features ~= self.running_mean:nElement() then
      error(string.format('got %d-feature tensor, expected %d', features, self.running_mean:nElement()))
   end
end

-- A contiguous tensor, for torch's kernel is wrong for others when it gets its results' memory.
local function contiguous(self, field, t)
   if t:isContiguous() then
      return t
   end
   self[field] = self[field] or t.new()
   return self[field]:resizeAs(t):copy(t)
end

-- torch's kernel reads as many numbers of each as the input has features, and does not look.
local function complete(self, t)
   if not t or t:nElement() ~= self.running_mean:nElement() then
      error(string.format('weight, bias, running_var and saved statistics must have %d elements, as running_mean has',
         self.running_mean:nElement()), 0)
   end
end

local function checkfields(self)
   complete(self, self.running_var)
   if self.weight then
      complete(self, self.weight)
      complete(self, self.bias)
   end
end

-- The tensor itself gets a batch around it, which it may lack in evaluation.
local function batched(self, t)
   return t:dim() == self.nDim and t or nn.utils.addSingletonDimension(t, t, 1)
end

-- Are the batch's own mean and variance taken?
local function bybatch(self, input)
   return self.train and input:size(1) >= self.leastBatch
end

-- What a field is to be filled with, if it is of that type, else a new tensor; as large as the averages.
local function saved(self, field, dtype)
   if not field or object.dtype(field) ~= dtype then
      field = object.newtensor(dtype)
   end
   geometry.resizeas(object.tensor(field), object.tensor(self.running_mean))
   return field
end

function BatchNormalization:updateOutput(input)
   self:checkInputDim(input)
   checkfields(self)
   input = batched(self, contiguous(self, '_input', input))
   self.output:resizeAs(input)
   local dtype = statistic(input)
   self.save_mean = saved(self, self.save_mean, dtype)
   self.save_std = saved(self, self.save_std, dtype)
   local training = bybatch(self, input)
   -- with the averages torch gives empty tensors back
   local mean = training and self.save_mean or buffer('empty', dtype)
   local std = training and self.save_std or buffer('none', dtype)
   if self.weight then
      forward(input, self.weight, self.bias, self.running_mean, self.running_var, training, self.momentum, self.eps,
         self.output, mean, std)
   else
      plain(input, self.running_mean, self.running_var, training, self.momentum, self.eps, self.output, mean, std)
   end
   return self.output
end

-- Fill those of gradInput, gradWeight and gradBias that are there.
local function gradients(self, input, gradOutput, gradInput, gradWeight, gradBias)
   self:checkInputDim(input)
   self:checkInputDim(gradOutput)
   if not self.save_mean or not self.save_std then
      error('must call :updateOutput() first')
   end
   checkfields(self)
   complete(self, self.save_mean)
   complete(self, self.save_std)
   gradOutput = batched(self, contiguous(self, '_gradOutput', gradOutput))
   input = batched(self, contiguous(self, '_input', input))
   demand.shape('input', input, 'gradOutput', gradOutput)
   local mask = gradInput and (gradWeight and BOTH or INPUT) or PARAMETERS
   if gradInput then
      gradInput:resizeAs(gradOutput)
   end
   if self.weight then
      backward(gradOutput, input, self.weight, self.running_mean, self.running_var, self.save_mean, self.save_std,
         bybatch(self, input), self.eps, mask, gradInput, gradWeight, gradBias)
   else
      plainbackward(gradOutput, input, self.running_mean, self.running_var, self.save_mean, self.save_std,
         bybatch(self, input), self.eps, mask, gradInput, gradWeight, gradBias)
   end
end

local function accumulate(self, gradWeight, gradBias, scale)
   self.gradWeight:add(scale or 1, gradWeight)
   self.gradBias:add(scale or 1, gradBias)
end

local function parameterbuffers(self)
   local dtype = object.dtype(self.weight)
   return buffer('weight', dtype):resizeAs(self.weight), buffer('bias', dtype):resizeAs(self.weight)
end

-- Both at once: they share most of their work.
local function both(self, input, gradOutput, scale, gradInput, accumulates)
   if accumulates and self.gradWeight then
      local gradWeight, gradBias = parameterbuffers(self)
      gradients(self, input, gradOutput, gradInput, gradWeight, gradBias)
      accumulate(self, gradWeight, gradBias, scale)
   elseif gradInput then
      gradients(self, input, gradOutput, gradInput)
   end
   return self.gradInput
end

function BatchNormalization:backward(input, gradOutput, scale)
   return both(self, input, gradOutput, scale, self.gradInput, true)
end

function BatchNormalization:updateGradInput(input, gradOutput)
   return both(self, input, gradOutput, 1, self.gradInput, false)
end

function BatchNormalization:accGradParameters(input, gradOutput, scale)
   return both(self, input, gradOutput, scale, nil, true)
end

-- Version 1 kept 1 / sqrt(variance + eps) as running_std.
function BatchNormalization:read(file, version)
   for key, value in pairs(file:readObject()) do
      self[key] = value
   end
   if version < 2 and self.running_std then
      self.running_var = self.running_std:pow(-2):add(-self.eps)
      self.running_std = nil
   end
end

function BatchNormalization:clearState()
   nn.utils.clear(self, 'buffer', 'buffer2', 'centered', 'std', 'normalized', -- those of old files
      '_input', '_gradOutput', 'save_mean', 'save_std')
   return parent.clearState(self)
end

function BatchNormalization:__tostring__()
   return string.format('%s (%dD) (%d)', torch.type(self), self.nDim, self.running_mean:nElement())
end
