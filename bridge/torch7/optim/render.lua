-- A confusion matrix as a picture: a block for each pair, lighter the larger its share of the target's samples, the
-- classes in order of their scores or of their number of samples, a legend of them on the right.
local function whole(value, name, low)
   if type(value) ~= 'number' or value < low or value > 1000 or value % 1 ~= 0 then
      error(string.format('optim.ConfusionMatrix: %s has to be a whole number of %d to 1000, got %s', name, low,
         tostring(value)), 3)
   end
   return value
end

-- Shares of each target's samples, of all samples, and how many are right in all and in the mean of the classes.
local function rates(mat)
   local counts = mat:double()
   local samples = counts:sum(2):select(2, 1)
   local total, shares = math.max(samples:sum(), 1), counts:clone()
   local right, perclass, seen = 0, 0, 0
   for t = 1, counts:size(1) do
      right = right + counts[t][t]
      shares[t]:div(math.max(samples[t], 1))
      if samples[t] > 0 then
         perclass, seen = perclass + shares[t][t], seen + 1
      end
   end
   return shares, samples / total, right / total * 100, perclass / math.max(seen, 1) * 100
end

local function legend(picture, self, order, scores, frequencies, block, left)
   local image = require 'image'
   local most = math.max(frequencies:max(), 1e-12)
   for i = 1, self.nclasses do
      local class = order[i]
      local top = (i - 1) * block + math.max(math.floor((block - 8) / 2), 0)
      local grey = 255 * (0.1 + 0.9 * frequencies[class] / most)
      image.drawText(picture, string.format('[%2.2f%% labels]', frequencies[class] * 100), left + 4, top,
         {color = {grey, grey, grey}, inplace = true, wrap = false})
      image.drawText(picture, string.format('[%2.2f%%] %s', scores[class] * 100,
         tostring(self.classes and self.classes[class] or class)), left + 106, top,
         {color = {255, 255, 255}, inplace = true, wrap = false})
   end
end

-- Returns 3 x H x W; `display` shows it too. sortmode: 'score' or 'occurrence'; block and legendwidth in pixels.
return function(self, sortmode, display, block, legendwidth)
   sortmode = sortmode or 'score'
   if sortmode ~= 'score' and sortmode ~= 'occurrence' then
      error('sort mode must be one of: score | occurrence', 2)
   end
   block, legendwidth = whole(block or 25, 'block', 2), whole(legendwidth or 200, 'legendwidth', 0)
   local shares, frequencies, accuracy, perclass = rates(self.mat)
   local scores = shares.new(self.nclasses)
   for i = 1, self.nclasses do
      scores[i] = shares[i][i]
   end
   local _, order = torch.sort(sortmode == 'score' and scores or frequencies, 1, true)

   local side = self.nclasses * block
   local matrix = torch.DoubleTensor(side, side)
   for i = 1, self.nclasses do
      for j = 1, self.nclasses do
         matrix:narrow(1, (i - 1) * block + 1, block):narrow(2, (j - 1) * block + 1, block)
            :fill(shares[order[i]][order[j]])
      end
   end
   for i = 1, self.nclasses do -- the grid
      matrix:select(1, i * block):fill(0.1)
      matrix:select(2, i * block):fill(0.1)
   end
   local picture = torch.DoubleTensor(3, side, side + legendwidth):zero()
   for channel = 1, 3 do
      picture[channel]:narrow(2, 1, side):copy(matrix)
   end
   if legendwidth > 0 then
      legend(picture, self, order, scores, frequencies, block, side)
   end
   if display then
      require('image').display{image = picture, legend = string.format(
         'Confusion matrix [sorted by %s, global accuracy = %0.3f%%, per-class accuracy = %0.3f%%]',
         sortmode == 'score' and 'scores' or 'occurrences', accuracy, perclass)}
   end
   return picture
end
