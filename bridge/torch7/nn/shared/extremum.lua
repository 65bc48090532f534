-- nn.CMaxTable and nn.CMinTable: the largest (smallest) of a table's tensors, element by element. `beats` is the tensor
-- method that says where one is better; the first of equals takes the gradient.
local slots = require 'nn.shared.slots'

return function(class, parent, beats)
   function class:__init()
      parent.__init(self)
      self.gradInput = {}
      self.maxIdx = torch.Tensor()
      self.mask = torch.Tensor()
      self.maxVals = torch.Tensor()
      self.gradMaxVals = torch.Tensor()
   end

   function class:updateOutput(input)
      self.output:resizeAs(input[1]):copy(input[1])
      self.maxIdx:resizeAs(input[1]):fill(1)
      for i = 2, #input do
         local better = torch[beats](input[i], self.output)
         if better:sum() > 0 then
            self.maxIdx:maskedFill(better, i)
            self.output:maskedCopy(better, input[i][better])
         end
      end
      return self.output
   end

   function class:updateGradInput(input, gradOutput)
      for i, gradInput in ipairs(slots(self.gradInput, input)) do
         gradInput:copy(gradOutput):maskedFill(torch.ne(self.maxIdx, i), 0)
      end
      return self.gradInput
   end

   function class:clearState()
      nn.utils.clear(self, 'maxIdx', 'mask', 'maxVals', 'gradMaxVals')
      return parent.clearState(self)
   end
end
