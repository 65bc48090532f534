-- A learned number of its own added to each element; the numbers are spread over a batch.
local CAdd, parent = torch.class('nn.CAdd', 'nn.Module')

function CAdd:__init(...)
   parent.__init(self)
   local first = ...
   self.size = torch.isTypeOf(first, 'torch.LongStorage') and first or torch.LongStorage{...}
   self.bias = torch.Tensor(self.size)
   self.gradBias = torch.Tensor(self.size):zero()
   self.output:resize(self.size)
   self:reset()
end

function CAdd:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.bias:nElement())
   self.bias:uniform(-stdv, stdv)
end

-- The numbers as large as the input: the same count, the same dimensions, or a row for each of a batch.
local function spread(self, input)
   if input:nElement() == self.bias:nElement() then
      return self.bias
   elseif input:dim() == self.bias:dim() then
      return self.bias:expandAs(input)
   end
   local rows = input:size(1)
   return self.bias:view(1, -1):expand(rows, self.bias:nElement())
end

function CAdd:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   return self.output:add(spread(self, input))
end

function CAdd:updateGradInput(input, gradOutput)
   if self.gradInput then
      return self.gradInput:resizeAs(input):copy(gradOutput)
   end
end

function CAdd:accGradParameters(input, gradOutput, scale)
   local sums = gradOutput
   if input:nElement() ~= self.bias:nElement() then
      if input:dim() == self.bias:dim() then
         for d = 1, input:dim() do
            if self.bias:size(d) ~= input:size(d) then
               sums = sums:sum(d)
            end
         end
      else
         sums = sums:contiguous():view(input:size(1), -1):sum(1)
      end
   end
   self.gradBias:add(scale or 1, sums)
end

function CAdd:type(typename, tensorCache)
   if typename then
      self:clearState()
   end
   return parent.type(self, typename, tensorCache)
end

function CAdd:clearState()
   nn.utils.clear(self, '_bias', '_expand', '_gradOutput', '_gradBias', '_repeat')
   return parent.clearState(self)
end
