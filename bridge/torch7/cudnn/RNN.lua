-- Recurrent networks of several layers, along a sequence or both ways: steps x batch x inputSize (with batchFirst, the
-- batch before the steps) to as many steps of hiddenSize, or twice that.
--
-- hiddenInput and cellInput, if set, are the states before the first step (layers x batch x hiddenSize); hiddenOutput
-- and cellOutput those behind the last. gradHiddenOutput, gradCellOutput, gradHiddenInput and gradCellInput are their
-- gradients. All parameters are one vector: first the matrices of all layers (for the input, for the state), then
-- their biases.
local cells = require 'cudnn.cells'
local recurrence = require 'cudnn.recurrence'

local RNN, parent = torch.class('cudnn.RNN', 'nn.Module')

local traces = setmetatable({}, {__mode = 'k'}) -- module -> what its last pass forward left

local STATES = {'reserve', 'hiddenOutput', 'cellOutput', 'gradHiddenInput', 'gradCellInput'}

function RNN:__init(inputSize, hiddenSize, numLayers, batchFirst, dropout, rememberStates, mode, directions)
   parent.__init(self)
   self.datatype = 'CUDNN_DATA_FLOAT'
   self.inputSize = inputSize
   self.hiddenSize = hiddenSize
   self.seqLength = 1
   self.miniBatch = 1
   self.numLayers = numLayers
   self.numDirections = directions or 1
   self.bidirectional = self.numDirections == 2 and 'CUDNN_BIDIRECTIONAL' or 'CUDNN_UNIDIRECTIONAL'
   self.inputMode = 'CUDNN_LINEAR_INPUT'
   self.mode = mode or 'CUDNN_RNN_RELU'
   self.dropout = dropout or 0
   self.seed = 0x01234567
   self.batchFirst = batchFirst or false
   self.rememberStates = rememberStates or false
   self.sync = true
   local make = cutorch.getDeviceCount() > 0 and torch.CudaTensor or torch.Tensor
   self.output, self.gradInput = make(), make()
   self.weight, self.gradWeight = make(), make()
   for _, name in ipairs(STATES) do
      self[name] = make()
   end
   self._type = self.weight:type()
   self:training()
   self:reset()
end

-- ---- parameters

-- For each layer and direction its sizes: rows of the matrices, columns of the input's.
local function layouts(self)
   local list = {}
   local rows = cells[self.mode].gates * self.hiddenSize
   for layer = 1, self.numLayers do
      for _ = 1, self.numDirections do
         local columns = layer == 1 and self.inputSize or self.hiddenSize * self.numDirections
         list[#list + 1] = {rows = rows, columns = columns}
      end
   end
   return list
end

-- The parts of a vector of parameters, for each layer and direction: W, R, bW, bR.
local function parts(self, flat)
   local list, offset = layouts(self), 0
   local function take(rows, columns)
      local part = flat:narrow(1, offset + 1, rows * (columns or 1))
      offset = offset + rows * (columns or 1)
      return columns and part:view(rows, columns) or part
   end
   for _, p in ipairs(list) do
      p.W, p.R = take(p.rows, p.columns), take(p.rows, self.hiddenSize)
   end
   for _, p in ipairs(list) do
      p.bW, p.bR = take(p.rows), take(p.rows)
   end
   return list
end

function RNN:reset(stdv)
   stdv = stdv or 1 / math.sqrt(self.hiddenSize)
   local count = 0
   for _, p in ipairs(layouts(self)) do
      count = count + p.rows * (p.columns + self.hiddenSize + 2)
   end
   self.weight:resize(count):uniform(-stdv, stdv)
   self.gradWeight:resizeAs(self.weight):zero()
end

-- For each layer and direction the matrices (or biases) of its gates, those of the input first, as vectors that view
-- `weight`.
local function gates(self, first, second)
   local list, count = {}, cells[self.mode].gates
   for i, p in ipairs(parts(self, self.weight)) do
      list[i] = {}
      for _, name in ipairs{first, second} do
         local flat = p[name]:view(-1)
         local size = flat:nElement() / count
         for k = 1, count do
            table.insert(list[i], flat:narrow(1, (k - 1) * size + 1, size))
         end
      end
   end
   return list
end

function RNN:weights()
   return gates(self, 'W', 'R')
end

function RNN:biases()
   return gates(self, 'bW', 'bR')
end

-- ---- passes

local function describe(t)
   return table.concat(t:size():totable(), ' x ')
end

-- The state with this name, or zeros; checked.
local function state(self, name, like)
   local layers = self.numLayers * self.numDirections
   local t = self[name]
   if not t then
      return like.new(layers, self.miniBatch, self.hiddenSize):zero()
   elseif t:dim() ~= 3 or t:size(1) ~= layers or t:size(2) ~= self.miniBatch or t:size(3) ~= self.hiddenSize then
      error(string.format('%s: %s must be %d x %d x %d (layers x batch x hidden), got %s', torch.type(self), name,
         layers, self.miniBatch, self.hiddenSize, describe(t)), 0)
   end
   return t
end

local function dropped(self, x)
   if self.train == false or self.dropout == 0 then
      return x
   end
   local keep = 1 - self.dropout
   local noise = x.new():resizeAs(x):bernoulli(keep):div(keep)
   return torch.cmul(x, noise), noise
end

local function stepsfirst(self, t)
   return self.batchFirst and t:transpose(1, 2) or t
end

function RNN:updateOutput(input)
   if input:dim() ~= 3 or input:size(3) ~= self.inputSize then
      error(string.format('%s: input must have 3 dimensions, the last of %d numbers, got %s', torch.type(self),
         self.inputSize, describe(input)), 0)
   end
   local x = stepsfirst(self, input)
   local T, N, H, D = x:size(1), x:size(2), self.hiddenSize, self.numDirections
   self.seqLength, self.miniBatch = T, N
   local lstm, cell = self.mode == 'CUDNN_LSTM', cells[self.mode]
   local h0, c0 = state(self, 'hiddenInput', x), lstm and state(self, 'cellInput', x)
   self.hiddenOutput:resize(self.numLayers * D, N, H)
   self.cellOutput:resize(self.numLayers * D, N, H):zero()
   local trace, list = {}, parts(self, self.weight)
   for layer = 1, self.numLayers do
      local made = {noise = nil}
      if layer > 1 then
         x, made.noise = dropped(self, x)
      end
      local y = x.new(T, N, H * D)
      for d = 1, D do
         local i = (layer - 1) * D + d
         made[d] = recurrence.forward(cell, list[i], x, {h = h0[i]:clone(), c = lstm and c0[i]:clone()},
            y:narrow(3, (d - 1) * H + 1, H), {h = self.hiddenOutput[i], c = lstm and self.cellOutput[i]}, d == 2)
      end
      trace[layer], x = made, y
   end
   traces[self] = trace
   self.output = self.output:resizeAs(x):copy(x)
   if self.rememberStates then
      self.hiddenInput, self.cellInput = self.hiddenOutput:clone(), lstm and self.cellOutput:clone() or nil
   end
   self.output = stepsfirst(self, self.output)
   return self.output
end

function RNN:updateGradInput(_, gradOutput)
   local trace = traces[self]
   if not trace then
      error(torch.type(self) .. ': updateOutput has to be called before a gradient is computed', 0)
   elseif self.train == false then
      error(torch.type(self) .. ': gradients are computed in training only', 0)
   end
   local g = stepsfirst(self, gradOutput)
   local H, D, lstm = self.hiddenSize, self.numDirections, self.mode == 'CUDNN_LSTM'
   if g:dim() ~= 3 or g:size(1) ~= self.seqLength or g:size(2) ~= self.miniBatch or g:size(3) ~= H * D then
      error(string.format('%s: gradOutput must be as large as the output, got %s', torch.type(self),
         describe(gradOutput)), 0)
   end
   self.gradHiddenInput:resize(self.numLayers * D, self.miniBatch, H):copy(state(self, 'gradHiddenOutput', g))
   self.gradCellInput:resize(self.numLayers * D, self.miniBatch, H):copy(state(self, 'gradCellOutput', g))
   for layer = self.numLayers, 1, -1 do
      local made = trace[layer]
      local below = g.new():resizeAs(made[1].x):zero()
      for d = 1, D do
         local i = (layer - 1) * D + d
         recurrence.backward(made[d], g:narrow(3, (d - 1) * H + 1, H),
            {h = self.gradHiddenInput[i], c = lstm and self.gradCellInput[i]}, below)
      end
      g = made.noise and below:cmul(made.noise) or below
   end
   local gradInput = stepsfirst(self, self.gradInput:resizeAs(g):copy(g))
   self.gradInput = gradInput
   return gradInput
end

function RNN:accGradParameters(_, _, scale)
   local list = parts(self, self.gradWeight)
   for layer, made in ipairs(traces[self]) do
      for d = 1, self.numDirections do
         recurrence.accumulate(made[d], list[(layer - 1) * self.numDirections + d], scale or 1)
      end
   end
end

-- ---- states

-- Forget the states before the first step.
function RNN:resetStates()
   self.hiddenInput, self.cellInput = nil, nil
end

function RNN:clearDesc()
end

function RNN:clearState()
   traces[self] = nil
   for _, name in ipairs(STATES) do
      self[name]:set()
   end
   self.hiddenInput, self.cellInput, self.gradHiddenOutput, self.gradCellOutput = nil, nil, nil, nil
   self.output, self.gradInput = self.weight.new(), self.weight.new()
   return self
end

function RNN:__tostring__()
   return string.format('%s(%d -> %d%s)', torch.type(self), self.inputSize, self.hiddenSize,
      self.numLayers > 1 and ', ' .. self.numLayers .. ' layers' or '')
end
