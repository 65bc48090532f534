-- How often each class was taken for each: `mat[target][prediction]` counts.
local ConfusionMatrix = torch.class('optim.ConfusionMatrix')

function ConfusionMatrix:__init(nclasses, classes)
   if type(nclasses) == 'table' then
      classes = nclasses
      nclasses = #classes
   end
   if type(nclasses) ~= 'number' or nclasses < 1 then
      error('optim.ConfusionMatrix: expected a number of classes of at least 1 or a list of their names, got ' ..
         tostring(nclasses))
   end
   self.mat = torch.LongTensor(nclasses, nclasses):zero()
   self.valids = torch.FloatTensor(nclasses):zero()
   self.unionvalids = torch.FloatTensor(nclasses):zero()
   self.nclasses = nclasses
   self.totalValid = 0
   self.averageValid = 0
   self.classes = classes or {}
   -- buffers
   self._target = torch.FloatTensor()
   self._prediction = torch.FloatTensor()
   self._max = torch.FloatTensor()
   self._pred_idx = torch.LongTensor()
   self._targ_idx = torch.LongTensor()
end

-- A target that is not positive is unknown and does not count.
function ConfusionMatrix:_add(p, t)
   assert(p and type(p) == 'number')
   assert(t and type(t) == 'number')
   if t > 0 then
      self.mat[t][p] = self.mat[t][p] + 1
   end
end

-- A class for each row of classes' scores, or classes as they are.
function ConfusionMatrix:_classes(given, buffer, index, name)
   buffer:resize(given:size()):copy(given)
   if given:dim() == 1 then
      return buffer
   elseif given:dim() ~= 2 then
      error(name .. ' has invalid number of dimensions')
   elseif given:size(2) == 1 then
      return buffer:select(2, 1)
   end
   self._max:max(index, buffer, 2)
   return index:select(2, 1)
end

-- Count one sample; prediction and target are classes or vectors of the classes' scores.
function ConfusionMatrix:add(prediction, target)
   if type(prediction) == 'number' then
      return self:_add(prediction, target)
   end
   self._prediction:resize(prediction:size()):copy(prediction)
   assert(prediction:dim() == 1)
   self._max:max(self._pred_idx, self._prediction, 1)
   if type(target) == 'number' then
      return self:_add(self._pred_idx[1], target)
   end
   assert(target:dim() == 1)
   self._target:resize(target:size()):copy(target)
   self._max:max(self._targ_idx, self._target, 1)
   self:_add(self._pred_idx[1], self._targ_idx[1])
end

-- Count a batch: vectors of classes or matrices with a row of scores for each sample.
function ConfusionMatrix:batchAdd(predictions, targets)
   local predicted = self:_classes(predictions, self._prediction, self._pred_idx, 'predictions')
   local wanted = self:_classes(targets, self._target, self._targ_idx, 'targets')
   if predicted:size(1) ~= wanted:size(1) then
      error(string.format('optim.ConfusionMatrix: got %d predictions, but %d targets',
         predicted:size(1), wanted:size(1)))
   end
   for i = 1, predicted:size(1) do
      self:_add(predicted[i], wanted[i])
   end
end

function ConfusionMatrix:zero()
   self.mat:zero()
   self.valids:zero()
   self.unionvalids:zero()
   self.totalValid = 0
   self.averageValid = 0
end

-- The mean of those that are numbers: classes without samples have none.
local function mean(values)
   local sum, count = 0, 0
   for i = 1, values:size(1) do
      if values[i] == values[i] then
         sum, count = sum + values[i], count + 1
      end
   end
   return sum / count
end

-- Take the rates from the counts: right of a class's samples, and right of all that are or were called that class.
function ConfusionMatrix:updateValids()
   local right = 0
   for t = 1, self.nclasses do
      local hits = self.mat[t][t]
      local samples, called = self.mat:select(1, t):sum(), self.mat:select(2, t):sum()
      self.valids[t] = hits / samples
      self.unionvalids[t] = hits / (samples + called - hits)
      right = right + hits
   end
   self.totalValid = right / self.mat:sum()
   self.averageValid = mean(self.valids)
   self.averageUnionValid = mean(self.unionvalids)
end

-- False rejection and false acceptance rates: of all classes (-1 for a class without samples), then of those that
-- have samples.
function ConfusionMatrix:farFrr()
   local count = self.nclasses
   local samples = self.mat:sum(2):select(2, 1)
   for _, name in ipairs{'_frrs', '_fars', '_classFrrs', '_classFars'} do
      self[name] = self[name] or torch.zeros(count)
      self[name]:fill(name:find('class') and -1 or 0)
   end
   local found = 0
   for i = 1, count do
      if samples[i] ~= 0 then
         found = found + 1
         self._classFrrs[i] = 1 - self.mat[i][i] / samples[i]
         local sum, others = 0, 0
         for j = 1, count do
            if j ~= i and samples[j] ~= 0 then
               sum, others = sum + self.mat[j][i] / samples[j], others + 1
            end
         end
         self._classFars[i] = sum / others
         self._frrs[found], self._fars[found] = self._classFrrs[i], self._classFars[i]
      end
   end
   if found == 0 then
      return self._classFrrs, self._classFars, torch.Tensor(), torch.Tensor()
   end
   return self._classFrrs, self._classFars, self._frrs:narrow(1, 1, found), self._fars:narrow(1, 1, found)
end

function ConfusionMatrix:__tostring__()
   self:updateValids()
   local digits = math.max(8, 1 + math.ceil(math.log10(self.mat:max())))
   local parts = {'ConfusionMatrix:\n['}
   for t = 1, self.nclasses do
      parts[#parts + 1] = t == 1 and '[' or ' ['
      for p = 1, self.nclasses do
         parts[#parts + 1] = string.format('%' .. digits .. 'd', self.mat[t][p])
      end
      parts[#parts + 1] = t == self.nclasses and ']]  ' or ']   '
      parts[#parts + 1] = string.format('%2.3f', self.valids[t] * 100) .. '% '
      if self.classes and self.classes[1] then
         parts[#parts + 1] = '\t[class: ' .. (self.classes[t] or '') .. ']'
      end
      parts[#parts + 1] = '\n'
   end
   parts[#parts + 1] = ' + average row correct: ' .. self.averageValid * 100 .. '% \n'
   parts[#parts + 1] = ' + average rowUcol correct (VOC measure): ' .. self.averageUnionValid * 100 .. '% \n'
   parts[#parts + 1] = ' + global correct: ' .. self.totalValid * 100 .. '%'
   return table.concat(parts)
end

ConfusionMatrix.render = require 'optim.render'

return ConfusionMatrix
