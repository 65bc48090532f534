-- Some layers as Torch7's nn has them: buffers that are resized in place, parameters that getParameters moves.
require 'torch'

nn = nn or {}

local Module = torch.class('nn.Module')

function Module:__init()
   self.gradInput = torch.Tensor()
   self.output = torch.Tensor()
   self.train = true
   self._type = self.output:type()
end

function Module:forward(input) return self:updateOutput(input) end
function Module:backward(input, gradOutput, scale)
   self:updateGradInput(input, gradOutput)
   self:accGradParameters(input, gradOutput, scale or 1)
   return self.gradInput
end
function Module:accGradParameters() end
function Module:parameters()
   if self.weight then return {self.weight, self.bias}, {self.gradWeight, self.gradBias} end
end
function Module:zeroGradParameters()
   for _, gradient in ipairs(select(2, self:parameters()) or {}) do gradient:zero() end
end
function Module:training() self.train = true end
function Module:evaluate() self.train = false end

-- All parameters in one new storage, which each of them moves to.
local function flatten(parameters)
   local n = 0
   for _, one in ipairs(parameters) do n = n + one:nElement() end
   local flat, first = torch.Tensor(n), 1
   for _, one in ipairs(parameters) do
      local sizes, length = one:size(), one:nElement()
      flat:narrow(1, first, length):copy(one:contiguous():view(length))
      one:set(flat:storage(), first, sizes)
      first = first + length
   end
   return flat
end

function Module:getParameters()
   local weights, gradients = self:parameters()
   return flatten(weights), flatten(gradients)
end

-- ---- layers

local Linear, parent = torch.class('nn.Linear', 'nn.Module')

function Linear:__init(inputs, outputs)
   parent.__init(self)
   self.weight, self.bias = torch.ones(outputs, inputs), torch.zeros(outputs)
   self.gradWeight, self.gradBias = torch.zeros(outputs, inputs), torch.zeros(outputs)
end

-- c[i][j] of n x m, for whoever reads and writes rows over pointers.
local function loop(n, m, act)
   for i = 0, n - 1 do
      for j = 0, m - 1 do act(i, j) end
   end
end

function Linear:updateOutput(input)
   input = input:contiguous()
   local n, m, k = input:size(1), self.weight:size(1), self.weight:size(2)
   local y = self.output:resize(n, m):data()
   local x, w, b = input:data(), self.weight:data(), self.bias:data()
   loop(n, m, function(i, j)
      local sum = b[j]
      for l = 0, k - 1 do sum = sum + x[i * k + l] * w[j * k + l] end
      y[i * m + j] = sum
   end)
   return self.output
end

function Linear:updateGradInput(input, gradOutput)
   gradOutput = gradOutput:contiguous()
   local n, m, k = input:size(1), self.weight:size(1), self.weight:size(2)
   local dx = self.gradInput:resize(n, k):data()
   local dy, w = gradOutput:data(), self.weight:data()
   loop(n, k, function(i, l)
      local sum = 0
      for j = 0, m - 1 do sum = sum + dy[i * m + j] * w[j * k + l] end
      dx[i * k + l] = sum
   end)
   return self.gradInput
end

function Linear:accGradParameters(input, gradOutput, scale)
   input, gradOutput = input:contiguous(), gradOutput:contiguous()
   local n, m, k = input:size(1), self.weight:size(1), self.weight:size(2)
   local x, dy, dw, db = input:data(), gradOutput:data(), self.gradWeight:data(), self.gradBias:data()
   loop(n, m, function(i, j)
      db[j] = db[j] + scale * dy[i * m + j]
      for l = 0, k - 1 do dw[j * k + l] = dw[j * k + l] + scale * dy[i * m + j] * x[i * k + l] end
   end)
end

local LookupTable = torch.class('nn.LookupTable', 'nn.Module')

function LookupTable:__init(rows, width)
   parent.__init(self)
   self.weight, self.gradWeight = torch.Tensor(rows, width), torch.zeros(rows, width)
   for i = 1, rows do self.weight[i]:fill(i) end
end

function LookupTable:updateOutput(input)
   self.output:resize(input:size(1), self.weight:size(2))
   for i = 1, input:size(1) do self.output[i] = self.weight[input[i]] end
   return self.output
end

function LookupTable:updateGradInput(input)
   self.gradInput:resize(input:size()):zero()
   return self.gradInput
end

function LookupTable:accGradParameters(input, gradOutput, scale)
   for i = 1, input:size(1) do
      local row = self.gradWeight[input[i]]
      for j = 1, row:size(1) do row[j] = row[j] + scale * gradOutput[i][j] end
   end
end

local View = torch.class('nn.View', 'nn.Module')

function View:__init(...)
   parent.__init(self)
   self.size, self.numElements = torch.LongStorage {...}, 1
   for _, size in ipairs {...} do self.numElements = self.numElements * math.max(size, 1) end
end

function View:updateOutput(input)
   self.output = input:view(self.size)
   return self.output
end

local Reshape = torch.class('nn.Reshape', 'nn.Module')

function Reshape:__init(...)
   parent.__init(self)
   self.size, self.batchsize, self.nelement = torch.LongStorage {...}, torch.LongStorage {1, ...}, 1
   for _, size in ipairs {...} do self.nelement = self.nelement * size end
end

function Reshape:updateOutput(input)
   self.batchsize[1] = input:size(1)
   self.output = input:view(self.batchsize)
   return self.output
end

local Sequential = torch.class('nn.Sequential', 'nn.Module')

function Sequential:__init()
   parent.__init(self)
   self.modules = {}
end

function Sequential:add(module)
   table.insert(self.modules, module)
   return self
end

function Sequential:get(index) return self.modules[index] end

function Sequential:parameters()
   local weights, gradients = {}, {}
   for _, module in ipairs(self.modules) do
      local some, theirs = module:parameters()
      for i = 1, #(some or {}) do
         table.insert(weights, some[i])
         table.insert(gradients, theirs[i])
      end
   end
   return weights, gradients
end

function Sequential:updateOutput(input)
   for _, module in ipairs(self.modules) do input = module:updateOutput(input) end
   self.output = input
   return input
end

-- Both halves of backward, from the last layer to the first.
function Sequential:backward(input, gradOutput, scale)
   for i = #self.modules, 1, -1 do
      gradOutput = self.modules[i]:backward(i > 1 and self.modules[i - 1].output or input, gradOutput, scale)
   end
   self.gradInput = gradOutput
   return gradOutput
end

return nn
