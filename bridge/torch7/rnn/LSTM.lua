-- Long short-term memory, one step at a time (Graves et al. 2013, with peephole connections unless cell2gate is false):
--   i = sigmoid(Wi x(t) + Ui h(t - 1) + pi c(t - 1) + bi)
--   f = sigmoid(Wf x(t) + Uf h(t - 1) + pf c(t - 1) + bf)
--   o = sigmoid(Wo x(t) + Uo h(t - 1) + po c(t) + bo)
--   c(t) = f c(t - 1) + i tanh(Wc x(t) + Uc h(t - 1) + bc), h(t) = o tanh(c(t))
local zeros = require 'rnn.zeros'

local LSTM, parent = torch.class('nn.LSTM', 'nn.AbstractRecurrent')

function LSTM:__init(inputSize, outputSize, rho, cell2gate)
   parent.__init(self, rho or 9999)
   self.inputSize = inputSize
   self.outputSize = outputSize or inputSize
   self.cell2gate = cell2gate == nil or cell2gate
   self.recurrentModule = self:buildModel()
   self.modules[1] = self.recurrentModule
   self.sharedClones[1] = self.recurrentModule
   self.zeroTensor = torch.Tensor()
   self.cells = {}
   self.gradCells = {}
end

-- ---- the model of a step: {input(t), output(t - 1), cell(t - 1)} to {output(t), cell(t)}

function LSTM:buildGate()
   local gate, sides = nn.Sequential(), nn.ParallelTable()
   if not self.cell2gate then
      gate:add(nn.NarrowTable(1, 2))
   end
   sides:add(nn.Linear(self.inputSize, self.outputSize)):add(nn.LinearNoBias(self.outputSize, self.outputSize))
   if self.cell2gate then
      sides:add(nn.CMul(self.outputSize))
   end
   return gate:add(sides):add(nn.CAddTable()):add(nn.Sigmoid())
end

function LSTM:buildInputGate()
   self.inputGate = self:buildGate()
   return self.inputGate
end

function LSTM:buildForgetGate()
   self.forgetGate = self:buildGate()
   return self.forgetGate
end

function LSTM:buildOutputGate()
   self.outputGate = self:buildGate()
   return self.outputGate
end

function LSTM:buildHidden()
   self.hiddenLayer = nn.Sequential()
      :add(nn.NarrowTable(1, 2))
      :add(nn.ParallelTable()
         :add(nn.Linear(self.inputSize, self.outputSize))
         :add(nn.LinearNoBias(self.outputSize, self.outputSize)))
      :add(nn.CAddTable()):add(nn.Tanh())
   return self.hiddenLayer
end

local function product(first, second)
   return nn.Sequential():add(nn.ConcatTable():add(first):add(second)):add(nn.CMulTable())
end

function LSTM:buildCell()
   self:buildInputGate()
   self:buildForgetGate()
   self:buildHidden()
   self.cellLayer = nn.Sequential()
      :add(nn.ConcatTable()
         :add(product(self.forgetGate, nn.SelectTable(3)))
         :add(product(self.inputGate, self.hiddenLayer)))
      :add(nn.CAddTable())
   return self.cellLayer
end

function LSTM:buildModel()
   self:buildCell()
   self:buildOutputGate()
   local output = product(self.outputGate, nn.Sequential():add(nn.SelectTable(3)):add(nn.Tanh()))
   return nn.Sequential()
      :add(nn.ConcatTable():add(nn.NarrowTable(1, 2)):add(self.cellLayer))
      :add(nn.FlattenTable())
      :add(nn.ConcatTable():add(output):add(nn.SelectTable(3)))
end

-- ---- steps

local function before(self, step)
   if step == 1 then
      return self.userPrevOutput or self.zeroTensor, self.userPrevCell or self.zeroTensor
   end
   return self.outputs[step - 1], self.cells[step - 1]
end

function LSTM:updateOutput(input)
   if self.step == 1 then
      zeros(self, input)
   end
   local prevOutput, prevCell = before(self, self.step)
   local output, cell = unpack(self:forwardModule():updateOutput{input, prevOutput, prevCell})
   self.cells[self.step] = cell
   self.cell = cell
   return self:advance(output)
end

-- The gradient of a step's cell, which comes from the next one.
local function gradCell(self, step)
   return step == self.step - 1 and (self.userNextGradCell or self.zeroTensor) or self.gradCells[step]
end

function LSTM:_updateGradInput(input, gradOutput, step)
   gradOutput = self:collect(gradOutput, step)
   local prevOutput, prevCell = before(self, step)
   local gradInput, gradPrevOutput, gradPrevCell = unpack(self:getStepModule(step):updateGradInput(
      {input, prevOutput, prevCell}, {gradOutput, gradCell(self, step)}))
   self.gradPrevOutput = gradPrevOutput
   self.gradCells[step - 1] = gradPrevCell
   if self.userPrevOutput then
      self.userGradPrevOutput = gradPrevOutput
   end
   if self.userPrevCell then
      self.userGradPrevCell = gradPrevCell
   end
   return gradInput
end

function LSTM:_accGradParameters(input, gradOutput, scale, step)
   local prevOutput, prevCell = before(self, step)
   self:getStepModule(step):accGradParameters({input, prevOutput, prevCell},
      {self:collected(gradOutput, step), gradCell(self, step)}, scale)
end

function LSTM:clearState()
   self.zeroTensor:set()
   return parent.clearState(self)
end
