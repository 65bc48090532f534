-- The distance d (sum of absolute differences) of two tensors where the target is 1, max(0, margin - d) where it is -1.
local L1HingeEmbeddingCriterion, parent = torch.class('nn.L1HingeEmbeddingCriterion', 'nn.Criterion')

function L1HingeEmbeddingCriterion:__init(margin)
   parent.__init(self)
   self.margin = margin or 1
   self.gradInput = {torch.Tensor(), torch.Tensor()}
end

local function number(target)
   return type(target) == 'number' and target or target[1]
end

function L1HingeEmbeddingCriterion:updateOutput(input, target)
   self.output = input[1]:dist(input[2], 1)
   if number(target) == -1 then
      self.output = math.max(0, self.margin - self.output)
   end
   return self.output
end

-- A difference of 0 has either sign, by chance.
local function sign(x)
   return x > 0 and 1 or x < 0 and -1 or 2 * torch.random(2) - 3
end

function L1HingeEmbeddingCriterion:updateGradInput(input, target)
   local first, second = self.gradInput[1], self.gradInput[2]
   first:resizeAs(input[1]):copy(input[1]):add(-1, input[2])
   local distance = first:norm(1)
   first:apply(sign)
   if number(target) == -1 then
      first:mul(distance > self.margin and 0 or -1)
   end
   second:resizeAs(input[2]):mul(first, -1)
   return self.gradInput
end

function L1HingeEmbeddingCriterion:type(typename, tensorCache)
   if not typename then
      return self._type
   end
   self.gradInput = {torch.getmetatable(typename).new(), torch.getmetatable(typename).new()}
   return parent.type(self, typename, tensorCache)
end
