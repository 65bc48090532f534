-- The input nfeatures times along a new dimension, which takes no memory.
local Replicate, parent = torch.class('nn.Replicate', 'nn.Module')

function Replicate:__init(nf, dim, ndim)
   parent.__init(self)
   self.nfeatures = nf
   self.dim = dim or 1
   self.ndim = ndim
   if not (nf >= 1) then
      error('at least one feature expected, got ' .. tostring(nf))
   elseif not (self.dim > 0) then
      error('Can only replicate across positive integer dimensions.')
   end
end

-- The dimension that is put in: behind the batch, if there is one.
local function dimension(self, input)
   if self.dim > input:dim() + 1 then
      error('Not enough input dimensions to replicate along dimension ' .. tostring(self.dim) .. '.', 3)
   end
   return self.dim + (self.ndim and input:dim() - self.ndim or 0)
end

function Replicate:updateOutput(input)
   local replicated = dimension(self, input)
   local size, stride = input:size():totable(), input:stride():totable()
   table.insert(size, replicated, self.nfeatures)
   table.insert(stride, replicated, 0)
   self.output:set(input:storage(), input:storageOffset(), torch.LongStorage(size), torch.LongStorage(stride))
   return self.output
end

function Replicate:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input)
   self.gradInput:copy(gradOutput:sum(dimension(self, input)))
   return self.gradInput
end
