-- Gated recurrent units, one step at a time:
--   r = sigmoid(Wr x(t) + Ur h(t - 1) + br)
--   z = sigmoid(Wz x(t) + Uz h(t - 1) + bz)
--   h(t) = (1 - z) tanh(W x(t) + U (r h(t - 1)) + b) + z h(t - 1)
local stateful = require 'rnn.stateful'
local zeros = require 'rnn.zeros'

local GRU, parent = torch.class('nn.GRU', 'nn.AbstractRecurrent')

function GRU:__init(inputSize, outputSize, rho, p)
   parent.__init(self, rho or 9999)
   self.p = p or 0
   if self.p ~= 0 then
      error('nn.GRU: dropout inside (p) is not supported; put nn.Dropout in front, or leave p out')
   end
   self.inputSize = inputSize
   self.outputSize = outputSize or inputSize
   self.recurrentModule = self:buildModel()
   self.modules[1] = self.recurrentModule
   self.sharedClones[1] = self.recurrentModule
   self.zeroTensor = torch.Tensor()
end

function GRU:buildModel()
   self.i2g = nn.Linear(self.inputSize, 2 * self.outputSize)
   self.o2g = nn.LinearNoBias(self.outputSize, 2 * self.outputSize)
   local gates = nn.Sequential()
      :add(nn.ParallelTable():add(self.i2g):add(self.o2g))
      :add(nn.CAddTable())
      :add(nn.Reshape(2, self.outputSize))
      :add(nn.SplitTable(1, 2))
      :add(nn.ParallelTable():add(nn.Sigmoid()):add(nn.Sigmoid()))
   local fresh = nn.Sequential():add(nn.SelectTable(1)):add(nn.Linear(self.inputSize, self.outputSize))
   local kept = nn.Sequential():add(nn.NarrowTable(2, 2)):add(nn.CMulTable())
      :add(nn.LinearNoBias(self.outputSize, self.outputSize))
   local hidden = nn.Sequential():add(nn.ConcatTable():add(fresh):add(kept)):add(nn.CAddTable()):add(nn.Tanh())
   local update = nn.Sequential():add(nn.SelectTable(4)):add(nn.SAdd(-1, true)) -- 1 - z
   local new = nn.Sequential():add(nn.ConcatTable():add(hidden):add(update)):add(nn.CMulTable())
   local old = nn.Sequential():add(nn.NarrowTable(4, 2)):add(nn.CMulTable())
   return nn.Sequential()
      :add(nn.ConcatTable():add(nn.Identity()):add(gates)):add(nn.FlattenTable()) -- x, h, r, z
      :add(nn.ConcatTable():add(nn.NarrowTable(1, 4)):add(nn.SelectTable(2))):add(nn.FlattenTable()) -- x, h, r, z, h
      :add(nn.ConcatTable():add(new):add(old)):add(nn.CAddTable())
end

stateful(GRU, zeros)

function GRU:clearState()
   self.zeroTensor:set()
   return parent.clearState(self)
end

function GRU:__tostring__()
   return string.format('%s(%d -> %d, %.2f)', torch.type(self), self.inputSize, self.outputSize, self.p)
end
