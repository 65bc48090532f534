-- The p-norm of each `width` features in a row, every `stride` features: the features lie along the first dimension, or
-- the second when `batch_mode`.
local FeatureLPPooling, parent = torch.class('nn.FeatureLPPooling', 'nn.Module')

function FeatureLPPooling:__init(width, stride, power, batch_mode)
   parent.__init(self)
   if not width or not stride or not power then
      error('width, stride and power must be given')
   elseif width < 2 then
      error('width must be at least 2')
   elseif stride < 1 then
      error('stride must be at least 1')
   elseif power < 1 then
      error('power must be at least 1')
   end
   self.width = width
   self.stride = stride
   self.power = power
   self.batch_mode = batch_mode or false
end

local function features(self, input)
   local dimension = self.batch_mode and 2 or 1
   if input:dim() < dimension or input:dim() > dimension + 2 then
      error(string.format('input of %d to %d dimensions expected, got %d', dimension, dimension + 2, input:dim()), 3)
   elseif input:size(dimension) < self.width then
      error(string.format('input has fewer features (%d) than the width (%d)', input:size(dimension), self.width), 3)
   end
   return dimension
end

function FeatureLPPooling:updateOutput(input)
   local windows = input:unfold(features(self, input), self.width, self.stride)
   self.output:sum(torch.pow(windows, self.power), windows:dim())
   local size = windows:size():totable()
   size[#size] = nil
   return self.output:resize(torch.LongStorage(size)):pow(1 / self.power)
end

function FeatureLPPooling:updateGradInput(input, gradOutput)
   local dimension = features(self, input)
   self.gradInput:resizeAs(input):zero()
   local from = input:unfold(dimension, self.width, self.stride)
   local to = self.gradInput:unfold(dimension, self.width, self.stride)
   local still = self.output:eq(0)
   -- windows overlap, but not at one place of each
   for i = 1, self.width do
      local slope = torch.cdiv(from:select(from:dim(), i), self.output):pow(self.power - 1)
      slope:maskedFill(still, 0)
      to:select(to:dim(), i):addcmul(1, slope, gradOutput)
   end
   return self.gradInput
end
