-- The mean (or sum) of squared differences between the input and the target's vertex of a regular simplex, one vertex
-- for each class: Mroueh, Poggio, Rosasco & Slotine (2012).
local ClassSimplexCriterion, parent = torch.class('nn.ClassSimplexCriterion', 'nn.MSECriterion')

-- n + 1 unit vectors in n dimensions, any two with the scalar product -1 / n: vertex k has its first k coordinates, and
-- coordinate k is the same for all later ones.
local function simplex(n)
   local vertices = torch.zeros(n + 1, n)
   for k = 1, n do
      local row = vertices[k]
      local length = k > 1 and row:narrow(1, 1, k - 1):norm() or 0
      row[k] = math.sqrt(1 - length ^ 2)
      for later = k + 1, n + 1 do
         vertices[later][k] = (row[k] ^ 2 - 1 - 1 / n) / row[k]
      end
   end
   return vertices
end

function ClassSimplexCriterion:__init(nClasses)
   if type(nClasses) ~= 'number' or nClasses <= 1 or nClasses % 1 ~= 0 then
      error('Required positive integer argument nClasses > 1')
   end
   parent.__init(self)
   self.nClasses = nClasses
   -- one dimension more than the simplex needs, in which all its vertices are 0: training is better with it
   self.simplex = torch.cat(simplex(nClasses - 1), torch.zeros(nClasses, 1), 2)
   self._target = torch.Tensor(nClasses)
end

-- The vertices of the targets.
function ClassSimplexCriterion:transformTarget(target)
   if torch.type(target) == 'number' then
      self._target:resize(self.nClasses):copy(self.simplex[target])
   elseif torch.isTensor(target) then
      if target:dim() ~= 1 then
         error('1D tensors only!')
      end
      self._target:index(self.simplex, 1, target:long())
   else
      error('a class or a tensor of classes expected, got ' .. torch.type(target))
   end
   return self._target
end

local function vertices(self, input, target)
   local wanted = self:transformTarget(target)
   if input:nElement() ~= wanted:nElement() then
      error(string.format('input of %d elements expected, got %d', wanted:nElement(), input:nElement()), 3)
   end
   return wanted
end

function ClassSimplexCriterion:updateOutput(input, target)
   return parent.updateOutput(self, input, vertices(self, input, target))
end

function ClassSimplexCriterion:updateGradInput(input, target)
   return parent.updateGradInput(self, input, vertices(self, input, target))
end

-- The scalar product of the input with each vertex.
function ClassSimplexCriterion:getPredictions(input)
   if input:dim() == 1 then
      return torch.mv(self.simplex, input)
   end
   return torch.mm(input, self.simplex:t())
end

-- The class whose vertex is nearest.
function ClassSimplexCriterion:getTopPrediction(input)
   local products = self:getPredictions(input)
   local _, best = products:max(products:dim())
   return best:view(-1)
end
