-- What every module can do. `output` and `gradInput` live on the module and are reused from call to call.
local fieldwise = require 'torch.fieldwise'
local copy = require 'nn.shared.cloning'
local flatten = require 'nn.shared.flatten'

local Module = torch.class('nn.Module')

-- Tensor type -> constructor of what flatten copies through, for libraries whose tensors need one; those here do not.
Module._flattenTensorBuffer = {}

function Module:__init()
   self.gradInput = torch.Tensor()
   self.output = torch.Tensor()
   self._type = self.output:type()
end

function Module:parameters()
   if self.weight and self.bias then
      return {self.weight, self.bias}, {self.gradWeight, self.gradBias}
   elseif self.weight then
      return {self.weight}, {self.gradWeight}
   elseif self.bias then
      return {self.bias}, {self.gradBias}
   end
end

function Module:updateOutput()
   return self.output
end

function Module:forward(input)
   return self:updateOutput(input)
end

function Module:backward(input, gradOutput, scale)
   scale = scale or 1
   self:updateGradInput(input, gradOutput)
   self:accGradParameters(input, gradOutput, scale)
   return self.gradInput
end

function Module:backwardUpdate(input, gradOutput, lr)
   self:updateGradInput(input, gradOutput)
   self:accUpdateGradParameters(input, gradOutput, lr)
   return self.gradInput
end

function Module:updateGradInput()
   return self.gradInput
end

function Module:accGradParameters()
end

function Module:accUpdateGradParameters(input, gradOutput, lr)
   if self.shared then
      self:sharedAccUpdateGradParameters(input, gradOutput, lr)
   else
      self:defaultAccUpdateGradParameters(input, gradOutput, lr)
   end
end

-- Gradients go straight into the parameters.
function Module:defaultAccUpdateGradParameters(input, gradOutput, lr)
   local gradWeight, gradBias = self.gradWeight, self.gradBias
   self.gradWeight, self.gradBias = self.weight, self.bias
   self:accGradParameters(input, gradOutput, -lr)
   self.gradWeight, self.gradBias = gradWeight, gradBias
end

-- The same where parameters are shared, and must be seen unchanged by all modules until the gradient is complete.
function Module:sharedAccUpdateGradParameters(input, gradOutput, lr)
   if self:parameters() then
      self:zeroGradParameters()
      self:accGradParameters(input, gradOutput, 1)
      self:updateParameters(lr)
   end
end

function Module:zeroGradParameters()
   local _, gradParams = self:parameters()
   for _, gradParam in ipairs(gradParams or {}) do
      gradParam:zero()
   end
end

function Module:updateParameters(learningRate)
   local params, gradParams = self:parameters()
   for i, param in ipairs(params or {}) do
      param:add(-learningRate, gradParams[i])
   end
end

function Module:training()
   self.train = true
end

function Module:evaluate()
   self.train = false
end

-- Let the named tensors be views of another module's.
function Module:share(other, ...)
   for _, name in ipairs{...} do
      if self[name] ~= nil then
         self[name]:set(other[name])
         self.shared = true
         other.shared = true
      end
   end
   return self
end

-- A deep copy; with names, one whose tensors of these names are shared with this module.
function Module:clone(...)
   local clone = copy(self)
   if select('#', ...) > 0 then
      clone:share(self, ...)
   end
   return clone
end

-- Convert every tensor to a type; without one, the type this module has.
function Module:type(typename, tensorCache)
   if not typename then
      return self._type
   end
   tensorCache = tensorCache or {}
   for key, param in pairs(self) do
      self[key] = nn.utils.recursiveType(param, typename, tensorCache)
   end
   self._type = typename
   return self
end

function Module:float(...)
   return self:type('torch.FloatTensor', ...)
end

function Module:double(...)
   return self:type('torch.DoubleTensor', ...)
end

function Module:cuda(...)
   return self:type('torch.CudaTensor', ...)
end

function Module:cudaHalf(...)
   return self:type('torch.CudaHalfTensor', ...)
end

function Module:cudaDouble(...)
   return self:type('torch.CudaDoubleTensor', ...)
end

function Module:reset()
end

-- How an object lies in a file: a table of its fields. Classes with a format of their own build on these.
function Module:write(file)
   local fields = {}
   for name, value in pairs(self) do
      if file:isWritableObject(value) then
         fields[name] = value
      else
         print(string.format('$ Warning: cannot write object field <%s> of <%s>', tostring(name), torch.typename(self)))
      end
   end
   file:writeObject(fields)
end

function Module:read(file)
   for name, value in pairs(file:readObject()) do
      self[name] = value
   end
end

fieldwise[Module.write], fieldwise[Module.read] = true, true

Module.flatten = flatten
Module.flattenParameters = flatten

-- All parameters, and all their gradients, as two vectors that the modules' tensors are views of from now on.
function Module:getParameters()
   local parameters, gradParameters = self:parameters()
   local flat, gradFlat = flatten(parameters), flatten(gradParameters)
   if flat:nElement() ~= gradFlat:nElement() then
      error('check that you are sharing parameters and gradParameters')
   end
   for i, parameter in ipairs(parameters or {}) do
      if parameter:storageOffset() ~= gradParameters[i]:storageOffset() then
         error('misaligned parameter at ' .. i)
      end
   end
   return flat, gradFlat
end

function Module:__call__(input, gradOutput)
   self:forward(input)
   if gradOutput then
      self:backward(input, gradOutput)
      return self.output, self.gradInput
   end
   return self.output
end

-- Call a function on this module and all modules inside, outermost first.
function Module:apply(callback)
   callback(self)
   for _, module in ipairs(self.modules or {}) do
      module:apply(callback)
   end
end

-- The modules of a type, and beside each the container that it is in.
function Module:findModules(typename, container)
   container = container or self
   local nodes, containers = {}, {}
   if torch.typename(self) == typename then
      nodes[1], containers[1] = self, container
   end
   if torch.type(self.modules) == 'table' then
      for _, child in ipairs(self.modules) do
         local found, around = child:findModules(typename, self)
         for i = 1, #found do
            nodes[#nodes + 1] = found[i]
            containers[#containers + 1] = around[i]
         end
      end
   end
   return nodes, containers
end

-- This module and all modules inside.
function Module:listModules()
   local list = {self}
   for _, child in ipairs(self.modules or {}) do
      for _, module in ipairs(child:listModules()) do
         list[#list + 1] = module
      end
   end
   return list
end

function Module:clearState()
   return nn.utils.clear(self, 'output', 'gradInput')
end

-- Replace each module by what the callback makes of it; the result of this one is returned.
function Module:replace(callback)
   local out = callback(self)
   if self.modules then
      for i, module in ipairs(self.modules) do
         self.modules[i] = module:replace(callback)
      end
   end
   return out
end
