-- Images upscaleFactor times as large, from upscaleFactor^2 times as many planes: each group of planes has the pixels
-- of one square.
local shape = require 'nn.shared.shape'

local PixelShuffle, parent = torch.class('nn.PixelShuffle', 'nn.Module')

function PixelShuffle:__init(upscaleFactor)
   parent.__init(self)
   self.upscaleFactor = upscaleFactor
   self.upscaleFactorSquared = upscaleFactor * upscaleFactor
end

-- The sizes of the output, then those of input and output with dimensions of their own for the axes of the squares.
local function split(self, input)
   local batch = shape.batched(input, 3)
   local images = batch and input:size(1) or 1
   local first = batch and 2 or 1
   local planes, factor = input:size(first), self.upscaleFactor
   if planes % self.upscaleFactorSquared ~= 0 then
      error(string.format('%d planes cannot be divided into groups of %d', planes, self.upscaleFactorSquared))
   end
   local channels, H, W = planes / self.upscaleFactorSquared, input:size(first + 1), input:size(first + 2)
   local sizes = batch and {images, channels, H * factor, W * factor} or {channels, H * factor, W * factor}
   return sizes, {images, channels, factor, factor, H, W}, {images, channels, H, factor, W, factor}
end

function PixelShuffle:updateOutput(input)
   local sizes, small, large = split(self, input)
   shape.resize(self.output, sizes)
   self.output:view(unpack(large)):copy(input:contiguous():view(unpack(small)):permute(1, 2, 5, 3, 6, 4))
   return self.output
end

function PixelShuffle:updateGradInput(input, gradOutput)
   local sizes, small, large = split(self, input)
   for d, size in ipairs(sizes) do
      shape.expect('gradOutput', gradOutput, d, size)
   end
   self.gradInput:resizeAs(input)
   self.gradInput:view(unpack(small)):copy(gradOutput:contiguous():view(unpack(large)):permute(1, 2, 4, 6, 3, 5))
   return self.gradInput
end
