-- From one order of dimensions to another: 'bchw' to 'bf' (or 'chw' to 'f') puts what is not the batch in one
-- dimension, 'chw' to 'hwc' exchanges dimensions. The output has this module's type.
local Convert, parent = torch.class('nn.Convert', 'nn.Module')

function Convert:__init(inputShape, outputShape)
   if outputShape and not inputShape then
      error('Expecting non-nil arg 1 when arg 2 is provided')
   end
   inputShape = inputShape or 'b*'
   outputShape = outputShape or inputShape
   self.inputShape = inputShape:find('b') and inputShape or 'b' .. inputShape
   self.outputShape = outputShape:find('b') and outputShape or 'b' .. outputShape
   self.inputBatchDim = self.inputShape:find('b')
   self.outputBatchDim = self.outputShape:find('b')
   if self.inputShape ~= 'b*' then
      for letter in self.outputShape:gmatch('.') do
         if letter ~= 'f' and not self.inputShape:find(letter, 1, true) then
            error(string.format('there is no way from %s to %s', self.inputShape, self.outputShape))
         end
      end
   end
   parent.__init(self)
end

-- The order of the input's dimensions in the output, and how many at its end are joined to one.
local function plan(self)
   local order, used, joined = {}, {}, 0
   for letter in self.outputShape:gmatch('.') do
      local at = self.inputShape:find(letter, 1, true)
      if at then
         order[#order + 1], used[at] = at, true
      end
   end
   for at = 1, #self.inputShape do
      if not used[at] then
         order[#order + 1] = at
         joined = joined + 1
      end
   end
   return order, joined
end

-- The input with dimensions in the output's order, those that are to be joined at the end.
local function permuted(self, input)
   local order, joined = plan(self)
   return input:permute(unpack(order)), order, joined
end

-- With the batch put in front where it is missing.
local function batched(self, input)
   if input:dim() == #self.inputShape then
      return input, true
   elseif input:dim() == #self.inputShape - 1 then
      return nn.utils.addSingletonDimension(input, self.inputBatchDim), false
   end
   error(string.format('input of %d dimensions expected for %s, got %d', #self.inputShape, self.inputShape,
      input:dim()), 3)
end

function Convert:updateOutput(input)
   if self.inputShape == self.outputShape then
      if input:type() == self.output:type() then
         self.output:set(input)
      else
         self.output:resize(input:size()):copy(input)
      end
      return self.output
   end
   local whole, batch = batched(self, input)
   local tensor, order, joined = permuted(self, whole)
   local size = tensor:size():totable()
   for _ = 2, joined do
      size[#size - 1] = size[#size - 1] * size[#size]
      size[#size] = nil
   end
   if joined > 0 and #self.outputShape == #order - joined then -- nothing names the rest: it has to be 1
      if table.remove(size) ~= 1 then
         error(string.format('the dimensions that %s leaves out must be 1', self.outputShape))
      end
   end
   if not batch then
      table.remove(size, self.outputBatchDim)
   end
   self.output:resize(torch.LongStorage(size)):copy(tensor)
   return self.output
end

function Convert:updateGradInput(input, gradOutput)
   self.gradInput = torch.isTypeOf(self.gradInput, input:type()) and self.gradInput or input.new()
   self.gradInput:resize(input:size())
   if self.inputShape == self.outputShape then
      self.gradInput:copy(gradOutput)
      return self.gradInput
   end
   local target = permuted(self, (batched(self, self.gradInput)))
   target:copy(gradOutput)
   return self.gradInput
end

-- The input's type stays what it is.
function Convert:type(typename)
   if not typename then
      return self._type
   end
   self.output = torch.getmetatable(typename).new()
   self.gradInput = torch.getmetatable(typename).new()
   self._type = typename
   return self
end
