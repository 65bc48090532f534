-- What convolutions over tables of connections (nn.tables) have in common.
--
-- A row {from, to} of the table has a kernel of its own; as a convolution of all planes, its kernel stands in the
-- dense weight at (to, from) and the others are zero.
local convolution = require 'nn.shared.convolution'
local shape = require 'nn.shared.shape'

local connections = {}

function connections.init(self, conMatrix, kW, kH, dW, dH)
   self.kW = kW
   self.kH = kH
   self.dW = dW or 1
   self.dH = dH or 1
   self.connTable = conMatrix
   self.nInputPlane = self.connTable:select(2, 1):max()
   self.nOutputPlane = self.connTable:select(2, 2):max()
   local n = self.connTable:size(1)
   self.weight = torch.Tensor(n, self.kH, self.kW)
   self.bias = torch.Tensor(self.nOutputPlane)
   self.gradWeight = torch.Tensor(n, self.kH, self.kW):zero()
   self.gradBias = torch.Tensor(self.nOutputPlane):zero()
end

-- By default the range of a kernel follows from how many planes its output plane is made from.
function connections.reset(self, stdv)
   if stdv then
      stdv = stdv * math.sqrt(3)
      self.weight:uniform(-stdv, stdv)
      self.bias:uniform(-stdv, stdv)
      return
   end
   local inputs = torch.Tensor(self.nOutputPlane):zero()
   for row = 1, self.connTable:size(1) do
      local to = self.connTable[row][2]
      inputs[to] = inputs[to] + 1
   end
   for row = 1, self.connTable:size(1) do
      local range = 1 / math.sqrt(self.kW * self.kH * inputs[self.connTable[row][2]])
      self.weight:select(1, row):uniform(-range, range)
   end
   for to = 1, self.bias:size(1) do
      local range = 1 / math.sqrt(self.kW * self.kH * inputs[to])
      self.bias[to] = torch.uniform(-range, range)
   end
end

-- Give a class its passes.
function connections.install(class, transposed)
   -- Where the kernels stand among the planes of the dense weight, whose first dimension is the output's planes, or the
   -- input's for a transposed convolution.
   local function places(self)
      local from, to = self.connTable:select(2, 1), self.connTable:select(2, 2)
      local outer, inner, n = to, from, self.nInputPlane
      if transposed then
         outer, inner, n = from, to, self.nOutputPlane
      end
      return torch.add(inner:double(), n, outer:double()):add(-n):long()
   end

   local function dense(self)
      local outer, inner = self.nOutputPlane, self.nInputPlane
      if transposed then
         outer, inner = inner, outer
      end
      local weight = self.weight.new(outer * inner, self.kH, self.kW):zero()
      weight:indexAdd(1, places(self), self.weight)
      return weight:view(outer, inner, self.kH, self.kW)
   end

   local function describe(self)
      return {stride = {self.dH, self.dW}, padding = {0, 0}, dilation = {1, 1}, transposed = transposed or false,
         adjust = {0, 0}, groups = 1}
   end

   -- Only the planes in the table are read: the input may have more.
   local function planes(self, input)
      local batch = shape.batched(input, 3)
      if input:size(batch and 2 or 1) < self.nInputPlane then
         error(string.format('invalid number of input planes: need at least %d, got an input of size %s',
            self.nInputPlane, shape.text(input)), 0)
      end
      input = batch and input or shape.single(input)
      return input:narrow(2, 1, self.nInputPlane), batch
   end

   local function sizes(self, input, batch)
      local from, to = {self.nInputPlane}, {self.nOutputPlane}
      for i, axis in ipairs{'H', 'W'} do
         local size, k, d = input:size(i + 2), self['k' .. axis], self['d' .. axis]
         from[i + 1] = size
         to[i + 1] = transposed and (size - 1) * d + k or shape.places(size, k, d, 0, 1)
      end
      shape.positive(from, to, ' x ')
      if batch then
         table.insert(to, 1, input:size(1))
      end
      return to
   end

   local function gradient(self, input, gradOutput, batch)
      local to = sizes(self, input, batch)
      for d = 1, #to do
         shape.expect('gradOutput', gradOutput, d, to[d])
      end
      return batch and gradOutput or shape.single(gradOutput)
   end

   function class:updateOutput(input)
      local read, batch = planes(self, input)
      shape.resize(self.output, sizes(self, read, batch))
      convolution.forward(batch and self.output or shape.single(self.output), read, dense(self), self.bias,
         describe(self))
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      local read, batch = planes(self, input)
      self.gradInput:resizeAs(input):zero()
      local out = batch and self.gradInput or shape.single(self.gradInput)
      convolution.gradinput(out:narrow(2, 1, self.nInputPlane), read, gradient(self, read, gradOutput, batch),
         dense(self), describe(self))
      return self.gradInput
   end

   function class:accGradParameters(input, gradOutput, scale)
      local read, batch = planes(self, input)
      local weight = dense(self)
      local gradWeight, gradBias = convolution.gradparameters(read, gradient(self, read, gradOutput, batch), weight,
         self.bias, describe(self))
      gradWeight = gradWeight:view(weight:size(1) * weight:size(2), self.kH, self.kW)
      self.gradWeight:add(scale or 1, gradWeight:index(1, places(self)))
      self.gradBias:add(scale or 1, gradBias)
   end
end

return connections
