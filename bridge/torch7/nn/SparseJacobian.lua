-- nn.SparseJacobian: what nn.Jacobian does, for a module whose input is a matrix with rows of index and value: only the
-- values count.
local Jacobian = require 'nn.Jacobian'

local SparseJacobian = {}
nn.SparseJacobian = SparseJacobian

-- The module as one of the values alone: `indices` stay.
local function dense(module, input)
   local indices = input:select(2, 1):clone()
   local wrapped = {modules = {module}}
   local function sparse(values)
      return torch.cat(indices:view(-1, 1), values:contiguous():view(-1, 1), 2)
   end

   function wrapped.forward(self, values)
      self.output = module:forward(sparse(values))
      return self.output
   end

   function wrapped.updateGradInput(_, values, gradOutput)
      local gradInput = module:updateGradInput(sparse(values), gradOutput)
      if torch.isTensor(gradInput) then
         return gradInput:select(2, 2)
      end
      return gradInput[1]:select(2, 2):index(1, indices:long()) -- of all indices
   end

   function wrapped.accGradParameters(_, values, gradOutput, scale)
      module:accGradParameters(sparse(values), gradOutput, scale)
   end

   function wrapped.accUpdateGradParameters(_, values, gradOutput, lr)
      module:accUpdateGradParameters(sparse(values), gradOutput, lr)
   end

   function wrapped.zeroGradParameters()
      module:zeroGradParameters()
   end

   return wrapped, input:select(2, 2):clone()
end

-- What nn.Jacobian's function of this name gives for the values.
local function forvalues(name)
   SparseJacobian[name] = function(module, input, ...)
      local wrapped, values = dense(module, input)
      return Jacobian[name](wrapped, values, ...)
   end
end

for _, name in ipairs{'backward', 'backwardUpdate', 'forward', 'forwardUpdate', 'testJacobian',
   'testJacobianParameters', 'testJacobianUpdateParameters'} do
   forvalues(name)
end

-- The gradient of a matrix, which may stand in a list; an empty tensor where there is none.
local function gradients(gradInput)
   return torch.isTensor(gradInput) and gradInput or gradInput[1] or torch.Tensor()
end

-- Output and gradient after a trip through a file, against those before: the two largest differences.
function SparseJacobian.testIO(module, input, minval, maxval)
   local values = input:select(2, 2)
   values:copy(torch.rand(values:nElement()):mul((maxval or 2) - (minval or -2)):add(minval or -2))
   local gradOutput = module:forward(input):clone():copy(torch.rand(module.output:nElement()))
   local output = module.output:clone()
   module:zeroGradParameters()
   local gradInput = gradients(module:backward(input, gradOutput:clone())):clone()
   local again = torch.deserialize(torch.serialize(module))
   again:forward(input)
   again:zeroGradParameters()
   again:backward(input, gradOutput)
   local worst = torch.add(again.output, -1, output):abs():max()
   return worst, gradInput:nElement() > 0 and torch.add(gradients(again.gradInput), -1, gradInput):abs():max() or 0
end

return SparseJacobian
