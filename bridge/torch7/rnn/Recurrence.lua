-- Any module from {input(t), output(t - 1)} to output(t), which may be tables; outputSize has its sizes (nested as it
-- is), nInputDim the dimensions of an input without a batch.
local stateful = require 'rnn.stateful'

local Recurrence, parent = torch.class('nn.Recurrence', 'nn.AbstractRecurrent')

function Recurrence:__init(recurrentModule, outputSize, nInputDim, rho)
   parent.__init(self, rho)
   local kind = torch.type(outputSize)
   if kind ~= 'table' and kind ~= 'torch.LongStorage' and kind ~= 'number' then
      error('nn.Recurrence: expected sizes of the output, got ' .. kind)
   elseif type(nInputDim) ~= 'number' then
      error('nn.Recurrence: expected the number of dimensions of an input, got ' .. torch.type(nInputDim))
   elseif not torch.isTypeOf(recurrentModule, 'nn.Module') then
      error('nn.Recurrence: expected a module, got ' .. torch.type(recurrentModule))
   end
   self.outputSize = kind == 'number' and {outputSize} or outputSize
   self.nInputDim = nInputDim
   self.recurrentModule = recurrentModule
   self.module = recurrentModule
   self.modules[1] = recurrentModule
   self.sharedClones[1] = recurrentModule
   self.typeTensor = torch.Tensor() -- the type of this module
end

-- Zeros of sizes that are nested as the output is.
function Recurrence:recursiveResizeZero(tensor, size, batchSize)
   local list = torch.type(size) == 'torch.LongStorage' and size:totable() or size
   if torch.type(list[1]) ~= 'number' then
      tensor = torch.type(tensor) == 'table' and tensor or {}
      for i, inner in ipairs(list) do
         tensor[i] = self:recursiveResizeZero(tensor[i], inner, batchSize)
      end
      return tensor
   end
   local sizes = {unpack(list)}
   if batchSize then
      table.insert(sizes, 1, batchSize)
   end
   tensor = torch.isTensor(tensor) and tensor or self.typeTensor.new()
   return tensor:resize(torch.LongStorage(sizes)):zero()
end

-- How many samples are in an input; nil for one without a batch.
function Recurrence:getBatchSize(input, nInputDim)
   nInputDim = nInputDim or self.nInputDim
   if torch.type(input) == 'table' then
      return self:getBatchSize(input[1], nInputDim)
   elseif input:dim() == nInputDim then
      return nil
   elseif input:dim() - 1 == nInputDim then
      return input:size(1)
   end
   error(string.format('nn.Recurrence: inputs have %d dimensions, or %d in a batch, got %d', nInputDim, nInputDim + 1,
      input:dim()))
end

stateful(Recurrence, function(self, input)
   return self:recursiveResizeZero(self.zeroTensor, self.outputSize, self:getBatchSize(input))
end)

Recurrence.__tostring__ = nn.Decorator.__tostring__
