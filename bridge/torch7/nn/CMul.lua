-- Each element times a learned number of its own; the weights are spread over a batch.
local CMul, parent = torch.class('nn.CMul', 'nn.Module')

function CMul:__init(...)
   parent.__init(self)
   local first = ...
   self.size = torch.isTypeOf(first, 'torch.LongStorage') and first or torch.LongStorage{...}
   self.weight = torch.Tensor(self.size)
   self.gradWeight = torch.Tensor(self.size):zero()
   self.output:resize(self.size)
   self:reset()
end

function CMul:reset(stdv)
   stdv = stdv and stdv * math.sqrt(3) or 1 / math.sqrt(self.weight:nElement())
   self.weight:uniform(-stdv, stdv)
end

-- The weights as large as the input: the same number of elements, the same dimensions, or a row for each of a batch.
local function spread(self, input)
   if input:nElement() == self.weight:nElement() then
      return self.weight:viewAs(input)
   elseif input:dim() == self.weight:dim() then
      return self.weight:expandAs(input)
   end
   local rows = input:size(1)
   return self.weight:view(1, -1):expand(rows, self.weight:nElement()):contiguous():viewAs(input)
end

function CMul:updateOutput(input)
   self.output:resizeAs(input)
   return self.output:cmul(input, spread(self, input))
end

function CMul:updateGradInput(input, gradOutput)
   if self.gradInput then
      self.gradInput:resizeAs(input)
      return self.gradInput:cmul(gradOutput, spread(self, input))
   end
end

function CMul:accGradParameters(input, gradOutput, scale)
   local products = torch.cmul(input, gradOutput)
   if input:nElement() ~= self.weight:nElement() then
      if input:dim() == self.weight:dim() then
         for d = 1, input:dim() do
            if self.weight:size(d) ~= input:size(d) then
               products = products:sum(d)
            end
         end
      else
         products = products:view(input:size(1), -1):sum(1)
      end
   end
   self.gradWeight:add(scale or 1, products:viewAs(self.gradWeight))
end
