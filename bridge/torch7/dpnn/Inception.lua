-- Columns side by side over the same images, joined as planes: for each kernel size a 1x1 convolution and that of the
-- kernel, then a pooling with a 1x1 convolution, then a 1x1 convolution alone. A function follows each convolution.
--
-- Inception{inputSize=, outputSize=, reduceSize=, ...}: reduceSize has the planes of the 1x1 convolutions of all
-- columns, outputSize those of the kernels'. Without a size for the pooling it has no convolution, without one for the
-- last column there is none.
local Inception, parent = torch.class('nn.Inception', 'nn.Container')

local function default(value, otherwise)
   if value == nil then
      return otherwise
   end
   return value
end

function Inception:__init(config)
   parent.__init(self)
   self.inputSize = config.inputSize
   self.outputSize = config.outputSize
   self.reduceSize = config.reduceSize
   self.reduceStride = config.reduceStride or {}
   self.transfer = config.transfer or nn.ReLU()
   self.batchNorm = config.batchNorm
   self.padding = default(config.padding, true)
   self.kernelSize = config.kernelSize or {5, 3}
   self.kernelStride = config.kernelStride or {1, 1}
   self.poolSize = config.poolSize or 3
   self.poolStride = config.poolStride or 1
   self.pool = config.pool or nn.SpatialMaxPooling(self.poolSize, self.poolSize, self.poolStride, self.poolStride)
   self.depthConcat = nn.DepthConcat(2)
   for i in ipairs(self.kernelSize) do
      if not (self.reduceSize[i] and self.outputSize[i]) then
         error(string.format('nn.Inception: kernel %d of %d has no size in reduceSize or outputSize', i,
            #self.kernelSize))
      end
      self.depthConcat:add(self:column(i))
   end
   local pooled, last = #self.kernelSize + 1, #self.kernelSize + 2
   local column = nn.Sequential():add(self.pool)
   if self.reduceSize[pooled] then
      self:reduce(column, pooled)
   end
   self.depthConcat:add(column)
   if self.reduceSize[last] then
      self.depthConcat:add(self:reduce(nn.Sequential(), last))
   end
   self.modules[1] = self.depthConcat
end

local function follow(self, column, planes)
   if self.batchNorm then
      column:add(nn.SpatialBatchNormalization(planes))
   end
   return column:add(self.transfer:clone())
end

-- Add the 1x1 convolution of column i.
function Inception:reduce(column, i)
   local stride = self.reduceStride[i] or 1
   column:add(nn.SpatialConvolution(self.inputSize, self.reduceSize[i], 1, 1, stride, stride))
   return follow(self, column, self.reduceSize[i])
end

function Inception:column(i)
   local column, size, stride = self:reduce(nn.Sequential(), i), self.kernelSize[i], self.kernelStride[i]
   column:add(nn.SpatialConvolution(self.reduceSize[i], self.outputSize[i], size, size, stride, stride,
      self.padding and math.floor(size / 2) or 0))
   return follow(self, column, self.outputSize[i])
end

function Inception:updateOutput(input)
   self.output = self:fromBatch(self.depthConcat:updateOutput(self:toBatch(input, 3)), 1)
   return self.output
end

function Inception:updateGradInput(input, gradOutput)
   local batch, gradient = self:toBatch(input, 3), self:toBatch(gradOutput, 3)
   self.gradInput = self:fromBatch(self.depthConcat:updateGradInput(batch, gradient), 1)
   return self.gradInput
end

function Inception:accGradParameters(input, gradOutput, scale)
   self.depthConcat:accGradParameters(self:toBatch(input, 3), self:toBatch(gradOutput, 3), scale)
end

function Inception:accUpdateGradParameters(input, gradOutput, lr)
   self.depthConcat:accUpdateGradParameters(self:toBatch(input, 3), self:toBatch(gradOutput, 3), lr)
end

function Inception:__tostring__()
   return self.depthConcat:__tostring__()
end
