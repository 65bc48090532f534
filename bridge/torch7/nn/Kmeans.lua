-- Lloyd's k-means: `weight` holds the k centroids, the loss is the sum of squared distances to the nearest, and its
-- gradient is such that a step with learning rate 1 puts each centroid in the mean of its samples.
local rows = require 'nn.shared.rows'

local Kmeans, parent = torch.class('nn.Kmeans', 'nn.Module')

function Kmeans:__init(k, dim, scale)
   parent.__init(self)
   if not (type(k) == 'number' and k > 0) then
      error('Clusters cannot be 0 or negative.')
   elseif not (type(dim) == 'number' and dim > 0) then
      error('Dimensionality cannot be 0 or negative.')
   end
   self.k = k
   self.dim = dim
   self.scale = scale or 1
   if self.scale <= 0 then
      error('Scale has to be positive.')
   end
   self.weight = torch.Tensor(k, dim)
   self.gradWeight = torch.Tensor(k, dim):zero()
   self.loss = 0
   self.clusterSampleCount = torch.Tensor(k)
   self:reset()
end

function Kmeans:reset(stdv)
   stdv = stdv or 1 / math.sqrt(self.weight:size(1))
   self.weight:uniform(-stdv, stdv)
end

local function samples(self, input)
   local matrix = rows(input)
   if matrix:size(2) ~= self.dim then
      error(string.format('inputs of %d numbers expected, got %d', self.dim, matrix:size(2)), 3)
   end
   return matrix
end

local function enough(self, matrix)
   if matrix:size(1) < self.k then
      error(string.format('Please provide at least as many samples (%d) as clusters (%d).', matrix:size(1), self.k), 3)
   end
end

-- Centroids are samples chosen by chance.
function Kmeans:initRandom(input)
   local matrix = samples(self, input)
   enough(self, matrix)
   local chosen = torch.randperm(matrix:size(1)):long():narrow(1, 1, self.k)
   self.weight:index(matrix, 1, chosen)
end

-- Squared distances to the nearest of the first `count` centroids, and which that is.
local function nearest(self, matrix, count)
   local n = matrix:size(1)
   local size = torch.LongStorage{n, count, self.dim}
   local centroids = self.weight:narrow(1, 1, count)
   local differences = matrix:contiguous():view(n, 1, self.dim):expand(size):clone()
   differences:add(-1, centroids:view(1, count, self.dim):expand(size))
   return differences:norm(2, 3):view(n, count):pow(2):min(2)
end

-- Centroids are samples, each chosen with a probability that grows with the distance from those before (to the power
-- `p`): Arthur & Vassilvitskii (2007).
function Kmeans:initKmeansPlus(input, p)
   local matrix = samples(self, input)
   enough(self, matrix)
   p = p or 0.95 -- of the distance, squared
   if not (p > 0 and p <= 1) then
      error('p should be between 0-1')
   end
   self.weight[1]:copy(matrix[torch.random(matrix:size(1))])
   for i = 2, self.k do
      local distances = nearest(self, matrix, i - 1):view(-1)
      local likelihood = distances:pow(p)
      if likelihood:sum() <= 0 then -- every sample is a centroid already
         likelihood:fill(1)
      end
      self.weight[i]:copy(matrix[torch.multinomial(likelihood, 1)[1]])
   end
end

function Kmeans:updateOutput(input)
   local distances, closest = nearest(self, samples(self, input), self.k)
   self._argMin = closest:view(-1)
   self.clusterSampleCount:zero()
   for i = 1, self._argMin:nElement() do
      local cluster = self._argMin[i]
      self.clusterSampleCount[cluster] = self.clusterSampleCount[cluster] + 1
   end
   self.loss = distances:sum()
   self.output = self.loss
   return self.output
end

-- Samples are no one's output: their gradient is 0.
function Kmeans:updateGradInput(input)
   self.gradInput:resizeAs(input):zero()
   return self.gradInput
end

function Kmeans:accGradParameters(input, _, scale)
   local matrix = samples(self, input)
   scale = (scale or 1) * self.scale
   local sums = self.weight.new():resizeAs(self.weight):zero()
   sums:indexAdd(1, self._argMin, matrix)
   for cluster = 1, self.k do
      local count = self.clusterSampleCount[cluster]
      if count > 0 then
         self.gradWeight[cluster]:add(scale, self.weight[cluster]):add(-scale / count, sums[cluster])
      end
   end
end

function Kmeans:type(typename, tensorCache)
   if typename then
      self._argMin = nil -- stays a LongTensor, made again by the next updateOutput
   end
   return parent.type(self, typename, tensorCache)
end

function Kmeans:clearState()
   self._argMin, self.output = nil, nil
   return parent.clearState(self)
end
