-- LSTM without peepholes, whose gates are computed together: input, hidden, forget, output.
local FastLSTM, parent = torch.class('nn.FastLSTM', 'nn.LSTM')

FastLSTM.usenngraph = false -- steps as graphs

function FastLSTM:__init(inputSize, outputSize, rho)
   parent.__init(self, inputSize, outputSize, rho, false)
end

function FastLSTM:buildModel()
   self.i2g = nn.Linear(self.inputSize, 4 * self.outputSize)
   self.o2g = nn.LinearNoBias(self.outputSize, 4 * self.outputSize)
   if self.usenngraph then
      return self:nngraphModel()
   end
   local gates = nn.Sequential()
      :add(nn.NarrowTable(1, 2))
      :add(nn.ParallelTable():add(self.i2g):add(self.o2g))
      :add(nn.CAddTable())
      :add(nn.Reshape(4, self.outputSize))
      :add(nn.SplitTable(1, 2))
      :add(nn.ParallelTable():add(nn.Sigmoid()):add(nn.Tanh()):add(nn.Sigmoid()):add(nn.Sigmoid()))
   local hidden = nn.Sequential():add(nn.NarrowTable(1, 2)):add(nn.CMulTable())
   local cell = nn.Sequential()
      :add(nn.ConcatTable():add(nn.SelectTable(3)):add(nn.SelectTable(5))):add(nn.CMulTable())
   local nextCell = nn.Sequential():add(nn.ConcatTable():add(hidden):add(cell)):add(nn.CAddTable())
   local active = nn.Sequential():add(nn.SelectTable(1)):add(nn.Tanh())
   local output = nn.Sequential():add(nn.ConcatTable():add(active):add(nn.SelectTable(2))):add(nn.CMulTable())
   return nn.Sequential()
      :add(nn.ConcatTable():add(gates):add(nn.SelectTable(3))):add(nn.FlattenTable()) -- gates, cell
      :add(nn.ConcatTable():add(nextCell):add(nn.SelectTable(4))):add(nn.FlattenTable()) -- next cell, output gate
      :add(nn.ConcatTable():add(output):add(nn.SelectTable(1)))
end

function FastLSTM:nngraphModel()
   require 'nngraph'
   local x, prevOutput, prevCell = nn.Identity()(), nn.Identity()(), nn.Identity()()
   local sums = nn.CAddTable(){self.i2g(x):annotate{name = 'i2h'}, self.o2g(prevOutput):annotate{name = 'h2h'}}
   local i, hidden, f, o = nn.SplitTable(1, 2)(nn.Reshape(4, self.outputSize)(sums)):split(4)
   local cell = nn.CAddTable(){
      nn.CMulTable(){nn.Sigmoid()(f), prevCell},
      nn.CMulTable(){nn.Sigmoid()(i), nn.Tanh()(hidden)},
   }
   return nn.gModule({x, prevOutput, prevCell}, {nn.CMulTable(){nn.Sigmoid()(o), nn.Tanh()(cell)}, cell})
end

for _, name in ipairs{'buildGate', 'buildInputGate', 'buildForgetGate', 'buildHidden', 'buildCell',
   'buildOutputGate'} do
   FastLSTM[name] = function()
      error('nn.FastLSTM has no ' .. name .. ': its gates are computed together', 2)
   end
end
