-- A mixture of experts: the sum of what the second input holds (a table, or a tensor whose dimension `dim` counts the
-- experts), each weighted by its number in the first.
local zeros = require 'nn.shared.zeros'

local MixtureTable, parent = torch.class('nn.MixtureTable', 'nn.Module')

function MixtureTable:__init(dim)
   parent.__init(self)
   self.dim = dim
   self.size = torch.LongStorage()
   self.size2 = torch.LongStorage()
   self.batchSize = 0
   self.backwardSetup = false
   self.gradInput = {}
end

-- Call f(gate's index, expert, its gate as large as the expert) for each; `around` is what the experts lie in.
local function each(self, gater, around, f)
   local batched = gater:dim() > 1
   local count = gater:size(batched and 2 or 1)
   self.dimG = batched and 2 or 1
   self.dim = self.dim or self.dimG
   local tables = torch.type(around) == 'table'
   local experts = tables and #around or around:size(self.dim)
   if experts ~= count then
      error(string.format('Should be as many experts (%d) as gates (%d)', experts, count), 3)
   end
   for i = 1, count do
      local expert = tables and around[i] or around:select(self.dim, i)
      local size = torch.LongStorage(expert:dim()):fill(1)
      if batched then
         size[1] = gater:size(1)
      end
      local gate = batched and gater:select(2, i):clone() or gater:narrow(1, i, 1)
      f(i, expert, gate:view(size):expandAs(expert))
   end
end

function MixtureTable:updateOutput(input)
   local gater, experts = input[1], input[2]
   each(self, gater, experts, function(i, expert, gate)
      if i == 1 then
         self.output:resizeAs(expert):zero()
         self.batchSize = gater:dim() > 1 and gater:size(1) or 1
      end
      self.output:addcmul(1, gate, expert)
   end)
   return self.output
end

function MixtureTable:updateGradInput(input, gradOutput)
   local gater, experts = input[1], input[2]
   local dgater = (self.gradInput[1] or gater.new()):resizeAs(gater)
   local dexperts = zeros(self.gradInput[2], experts)
   each(self, gater, experts, function(i, expert, gate)
      local products = torch.cmul(gradOutput, expert)
      if gater:dim() > 1 then
         dgater:select(2, i):copy(products:view(products:size(1), -1):sum(2))
      else
         dgater[i] = products:sum()
      end
      local dexpert = torch.type(experts) == 'table' and dexperts[i] or dexperts:select(self.dim, i)
      dexpert:cmul(gradOutput, gate)
   end)
   self.gradInput[1], self.gradInput[2] = dgater, dexperts
   return self.gradInput
end

function MixtureTable:type(typename, tensorCache)
   if typename then
      self:clearState()
   end
   return parent.type(self, typename, tensorCache)
end

function MixtureTable:clearState()
   nn.utils.clear(self, '_gaterView', '_expert', '_expertView', '_sum', '_expertView2', '_expert2')
   return parent.clearState(self)
end
