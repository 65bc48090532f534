-- What a moving eye sees of {images, locations}: `depth` patches around a location, each larger than the one before by
-- `scale` and brought down to size x size, as planes. Locations are {y, x} from -1 (top, left) to 1. They have no
-- gradient.
local SpatialGlimpse, parent = torch.class('nn.SpatialGlimpse', 'nn.Module')

function SpatialGlimpse:__init(size, depth, scale)
   parent.__init(self)
   if torch.type(size) == 'table' then
      self.height, self.width = unpack(size)
   else
      self.height, self.width = size, size
   end
   self.depth = depth or 3
   self.scale = scale or 2
   for _, name in ipairs{'height', 'width', 'depth', 'scale'} do
      if type(self[name]) ~= 'number' then
         error(string.format('nn.SpatialGlimpse: %s must be a number, got %s', name, type(self[name])))
      end
   end
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

-- Patch `level`: its height and width in the image, and of the zeros around that.
local function extent(self, level)
   local factor = math.floor(self.scale ^ (level - 1))
   local height, width = self.height * factor, self.width * factor
   return height, width, math.floor((height - 1) / 2), math.floor((width - 1) / 2)
end

-- The patch in the image with zeros around it.
local function patch(self, padded, location, level)
   local height, width = extent(self, level)
   local y, x = (location[1] + 1) / 2, (location[2] + 1) / 2
   local h, w = padded:size(2) - height, padded:size(3) - width
   y, x = math.min(h, math.max(0, y * h)), math.min(w, math.max(0, x * w))
   return padded:narrow(2, math.floor(y) + 1, height):narrow(3, math.floor(x) + 1, width)
end

local function padding(self, planes, image, level)
   local _, _, top, left = extent(self, level)
   self._pad = self._pad or image.new()
   self._pad:resize(planes, image:size(2) + 2 * top, image:size(3) + 2 * left):zero()
   return self._pad, self._pad:narrow(2, top + 1, image:size(2)):narrow(3, left + 1, image:size(3))
end

-- Means over as many pixels as a patch has for one of its picture.
local function pooling(self, level)
   local factor = math.floor(self.scale ^ (level - 1))
   self._pools = self._pools or {}
   self._pools[level] = self._pools[level] or nn.SpatialAveragePooling(factor, factor, factor, factor)
   return self._pools[level]:type(self._pad:type())
end

local function batches(self, input, gradOutput)
   if torch.type(input) ~= 'table' or #input < 2 then
      error('nn.SpatialGlimpse: expected {images, locations}, got ' .. torch.type(input), 3)
   end
   local locations = self:toBatch(input[2], 1)
   return self:toBatch(input[1], 3), locations, gradOutput and self:toBatch(gradOutput, 3)
end

function SpatialGlimpse:updateOutput(input)
   local images, locations = batches(self, input)
   local n, planes = images:size(1), images:size(2)
   self.output = self.output:resize(n, self.depth, planes, self.height, self.width)
   for i = 1, n do
      for level = 1, self.depth do
         local padded, middle = padding(self, planes, images[i], level)
         middle:copy(images[i])
         self.output[i][level]:copy(pooling(self, level):updateOutput(patch(self, padded, locations[i], level)
            :contiguous()))
      end
   end
   self.output:resize(n, self.depth * planes, self.height, self.width)
   self.output = self:fromBatch(self.output, 1)
   return self.output
end

function SpatialGlimpse:updateGradInput(input, gradOutput)
   local images, locations, gradient = batches(self, input, gradOutput)
   local n, planes = images:size(1), images:size(2)
   local gradImages, gradLocations = unpack(self.gradInput)
   gradImages:resizeAs(images):zero()
   gradLocations:resizeAs(locations):zero()
   gradient = gradient:contiguous():view(n, self.depth, planes, self.height, self.width)
   for i = 1, n do
      for level = 1, self.depth do
         local padded, middle = padding(self, planes, images[i], level)
         local place, pool = patch(self, padded, locations[i], level), pooling(self, level)
         place:copy(pool:updateGradInput(place:contiguous(), gradient[i][level]))
         gradImages[i]:add(middle)
      end
   end
   self.gradInput = {self:fromBatch(gradImages, 1), self:fromBatch(gradLocations, 1)}
   return self.gradInput
end
