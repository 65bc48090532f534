-- x / (k + alpha / size * s)^beta, where s is the sum of squares over `size` neighbouring planes.
local shape = require 'nn.shared.shape'
local pooling = require 'nn.shared.pooling'

local SpatialCrossMapLRN, parent = torch.class('nn.SpatialCrossMapLRN', 'nn.Module')

function SpatialCrossMapLRN:__init(size, alpha, beta, k)
   parent.__init(self)
   if type(size) ~= 'number' or not (size >= 1) then
      error('size must be a number of planes, at least 1, got ' .. tostring(size))
   end
   self.size = size
   self.alpha = alpha or 0.0001
   self.beta = beta or 0.75
   self.k = k or 1
end

local sum = pooling.sum(2)

-- r = the sum of x over each plane and `size` / 2 on either side.
local function across(self, r, x)
   local half = math.floor((self.size - 1) / 2)
   local batch = shape.batched(x, 3)
   local images, planes = batch and x:size(1) or 1, x:size(batch and 2 or 1)
   local pixels = x:nElement() / images / planes
   sum(r:view(images, planes, pixels), x:view(images, planes, pixels), {2 * half + 1, 1}, {1, 1}, {half, 0})
   return r
end

function SpatialCrossMapLRN:updateOutput(input)
   shape.batched(input, 3)
   self.scale = self.scale or input.new()
   self._squares = self._squares or input.new()
   across(self, self.scale:resizeAs(input), self._squares:resizeAs(input):cmul(input, input))
   self.scale:mul(self.alpha / self.size):add(self.k)
   self.output:resizeAs(input):pow(self.scale, -self.beta):cmul(input)
   return self.output
end

function SpatialCrossMapLRN:updateGradInput(input, gradOutput)
   if not (self.scale and self.scale:isSameSizeAs(input)) then
      error('updateOutput has to be called before updateGradInput, with the same input')
   end
   self._squares:resizeAs(input):cmul(gradOutput, self.output):cdiv(self.scale)
   local around = across(self, input.new():resizeAs(input), self._squares)
   self.gradInput:resizeAs(input):pow(self.scale, -self.beta):cmul(gradOutput)
   self.gradInput:add(-2 * self.alpha * self.beta / self.size, around:cmul(input))
   return self.gradInput
end

function SpatialCrossMapLRN:clearState()
   nn.utils.clear(self, 'scale', '_squares', 'paddedRatio', 'accumRatio')
   return parent.clearState(self)
end
