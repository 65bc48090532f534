-- What transposed ("full") convolutions have in common. Their input is a tensor, or {tensor, target}: then the output
-- gets the target's size.
local convolution = require 'nn.shared.convolution'
local fields = require('nn.shared.shape').fields

-- 'a, b and c'
local function listed(parts)
   return (table.concat(parts, ', '):gsub('(.*), ', '%1 and '))
end

-- Give a class its methods; `letters` are its axes in the order of tensors, `printed` in that of its constructor.
-- Returns what the constructor calls, with its arguments by kind: init(self, nInputPlane, nOutputPlane, {k = {kW, kH},
-- d = {dW, dH}, pad = {padW, padH}, adj = {adjW, adjH}}).
return function(class, parent, letters, printed)
   local output, gradinput, gradparameters = convolution.kind(letters, true)
   local defaults = {d = 1, pad = 0, adj = 0}

   local function init(self, nInputPlane, nOutputPlane, settings)
      parent.__init(self)
      self.nInputPlane = nInputPlane
      self.nOutputPlane = nOutputPlane
      local sizes, limits, adjustable = {nInputPlane, nOutputPlane}, {}, true
      for prefix, given in pairs(settings) do
         for i, field in ipairs(fields(prefix, printed)) do
            self[field] = given[i] or defaults[prefix]
         end
      end
      for i, stride in ipairs(fields('d', printed)) do
         limits[i] = 'self.' .. stride .. ' - 1'
         adjustable = adjustable and self['adj' .. printed:sub(i, i)] <= self[stride] - 1
      end
      if not adjustable then
         error(string.format('%s must be smaller than %s respectively', listed(fields('adj', printed)), listed(limits)))
      end
      for i, field in ipairs(fields('k', letters)) do
         sizes[i + 2] = self[field]
      end
      self.weight = torch.Tensor(unpack(sizes, 1, #letters + 2))
      self.gradWeight = self.weight.new(self.weight:size()):zero()
      self.bias = torch.Tensor(nOutputPlane)
      self.gradBias = torch.Tensor(nOutputPlane):zero()
      self:reset()
   end

   function class:reset(stdv)
      local inputs = self.nInputPlane
      for _, field in ipairs(fields('k', letters)) do
         inputs = inputs * self[field]
      end
      convolution.reset(self, stdv, inputs)
   end

   -- What must be added along each axis for the output to be as large as the target.
   local function adjust(self, target)
      local list, n = {}, target:dim()
      for i = 1, #letters do
         local axis = letters:sub(i, i)
         local size = target:size(n - #letters + i)
         list[i] = (size + 2 * self['pad' .. axis] - self['k' .. axis]) % self['d' .. axis]
      end
      return list
   end

   local function compatible(self)
      convolution.compatible(self, letters)
      for i = 1, #letters do
         local field = 'adj' .. letters:sub(i, i)
         self[field] = self[field] or 0 -- old files lack it
      end
   end

   class.noBias = convolution.noBias

   function class:updateOutput(input)
      compatible(self)
      if type(input) == 'table' then
         return output(self, input[1], adjust(self, input[2]))
      end
      return output(self, input)
   end

   function class:updateGradInput(input, gradOutput)
      if not self.gradInput then
         return
      end
      compatible(self)
      if type(input) ~= 'table' then
         if type(self.gradInput) == 'table' then
            self.gradInput = self.gradInput[1]
         end
         return gradinput(self, input, gradOutput, self.gradInput)
      end
      local tensor, target = input[1], input[2]
      local first = self.gradInput
      if type(first) == 'table' then
         first = first[1]
      end
      self.zeroScalar = self.zeroScalar or target.new(1):zero()
      self.ones = self.ones or torch.LongStorage()
      self.ones:resize(target:dim()):fill(1)
      self.gradInput = {
         gradinput(self, tensor, gradOutput, first or tensor.new(), adjust(self, target)),
         self.zeroScalar:view(self.ones):expandAs(target),
      }
      return self.gradInput
   end

   function class:accGradParameters(input, gradOutput, scale)
      compatible(self)
      if type(input) == 'table' then
         gradparameters(self, input[1], gradOutput, scale, adjust(self, input[2]))
      else
         gradparameters(self, input, gradOutput, scale)
      end
   end

   convolution.methods(class, parent, printed)
   return init
end
