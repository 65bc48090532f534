-- A random part oheight x owidth of each image; in evaluation the middle.
local SpatialUniformCrop, parent = torch.class('nn.SpatialUniformCrop', 'nn.Module')

function SpatialUniformCrop:__init(oheight, owidth, scale)
   parent.__init(self)
   if scale then
      error('nn.SpatialUniformCrop: scales are not supported; scale the images with the image package')
   end
   self.oheight = oheight
   self.owidth = owidth or oheight
   self.coord = torch.Tensor()
end

-- The part of a batch's image i.
local function part(self, image, i)
   return image:narrow(2, self.coord[i][1], self.oheight):narrow(3, self.coord[i][2], self.owidth)
end

function SpatialUniformCrop:updateOutput(input)
   local batch = self:toBatch(input, 3)
   local height, width = batch:size(3) - self.oheight + 1, batch:size(4) - self.owidth + 1
   if height < 1 or width < 1 then
      error(string.format('nn.SpatialUniformCrop: images of %d x %d have no part of %d x %d', batch:size(3),
         batch:size(4), self.oheight, self.owidth))
   end
   self.coord = self.coord:resize(batch:size(1), 2)
   self.output = self.output:resize(batch:size(1), batch:size(2), self.oheight, self.owidth)
   for i = 1, batch:size(1) do
      if self.train ~= false then
         self.coord[i][1], self.coord[i][2] = torch.random(height), torch.random(width)
      else
         self.coord[i][1], self.coord[i][2] = math.ceil(height / 2), math.ceil(width / 2)
      end
      self.output[i]:copy(part(self, batch[i], i))
   end
   self.output = self:fromBatch(self.output, 1)
   return self.output
end

function SpatialUniformCrop:updateGradInput(input, gradOutput)
   local batch, gradient = self:toBatch(input, 3), self:toBatch(gradOutput, 3)
   self.gradInput:resizeAs(batch):zero()
   for i = 1, batch:size(1) do
      part(self, self.gradInput[i], i):copy(gradient[i])
   end
   self.gradInput = self:fromBatch(self.gradInput, 1)
   return self.gradInput
end
