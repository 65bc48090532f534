-- LSTM over whole sequences: steps x batch x inputsize to steps x batch x outputsize. The input may be {h0, x} or
-- {c0, h0, x} with the states before the first step; gradInput then has the same form.
--
-- `weight` has the rows of the input above those of the output; its columns, and `bias`, the gates i, f, o and the new
-- content g: c(t) = f c(t - 1) + i g, h(t) = o tanh(c(t)).
local sequence = require 'rnn.sequence'

local SeqLSTM, parent = torch.class('nn.SeqLSTM', 'nn.Module')

local gate = sequence.gate
local BUFFERS = {'cell', 'gates', 'buffer1', 'buffer2', 'grad_a_buffer', 'h0', 'c0', 'grad_h0', 'grad_c0',
   'grad_x'}

function SeqLSTM:__init(inputsize, outputsize)
   parent.__init(self)
   outputsize = outputsize or inputsize
   self.inputsize, self.outputsize, self.hiddensize = inputsize, outputsize, outputsize
   sequence.prepare(self, inputsize, outputsize, 4, BUFFERS)
end

function SeqLSTM:reset(std)
   self.weight:normal(0, std or 1 / math.sqrt(self.outputsize + self.inputsize))
   self.bias:zero()
   self.bias:narrow(1, self.outputsize + 1, self.outputsize):fill(1) -- remember at first
   return self
end

function SeqLSTM:sizes()
   return self.inputsize, self.outputsize
end

function SeqLSTM:updateOutput(input)
   self.recompute_backward = true
   local given, x = sequence.parts(self, input, nil, 2)
   local T, N, D, H = x:size(1), x:size(2), self:sizes()
   local h0, c0 = given[#given], given[#given - 1]
   self.given = #given
   self._output = self._output or self.weight.new()
   local h, c = self._output, self.cell
   c0 = c0 or sequence.initial(self, self.c0, self.userPrevCell, c, N, H)
   h0 = h0 or sequence.initial(self, self.h0, self.userPrevOutput, h, N, H)
   local Wx, Wh = self.weight:narrow(1, 1, D), self.weight:narrow(1, D + 1, H)
   h:resize(T, N, H)
   c:resize(T, N, H)
   self.gates:resize(T, N, 4 * H)
   -- the input's part of all steps at once
   local flat = self.gates:view(T * N, 4 * H)
   flat:copy(self.bias:view(1, 4 * H):expandAs(flat))
   flat:addmm(x:contiguous():view(T * N, D), Wx)
   local prev_h, prev_c = h0, c0
   for t = 1, T do
      local a, next_h, next_c = self.gates[t], h[t], c[t]
      a:addmm(prev_h, Wh)
      a:narrow(2, 1, 3 * H):sigmoid()
      gate(a, 4, H):tanh()
      next_h:cmul(gate(a, 1, H), gate(a, 4, H))
      next_c:cmul(gate(a, 2, H), prev_c):add(next_h)
      next_h:tanh(next_c):cmul(gate(a, 3, H))
      sequence.mask(self, x[t], next_h, next_c, a)
      prev_h, prev_c = next_h, next_c
   end
   self.first_h, self.first_c = h0, c0
   self.userPrevOutput, self.userPrevCell = nil, nil
   self.output = sequence.order(self, h)
   return self.output
end

function SeqLSTM:backward(input, gradOutput, scale)
   scale = scale or 1
   self.recompute_backward = false
   local _, x, grad_h = sequence.parts(self, input, gradOutput, 2)
   local T, N, D, H = x:size(1), x:size(2), self:sizes()
   local h, c = self._output, self.cell
   local Wx, Wh = self.weight:narrow(1, 1, D), self.weight:narrow(1, D + 1, H)
   local grad_Wx, grad_Wh = self.gradWeight:narrow(1, 1, D), self.gradWeight:narrow(1, D + 1, H)
   local grad_next_h, grad_next_c = self.buffer1:resize(N, H), self.buffer2:resize(N, H)
   grad_next_h:zero()
   grad_next_c:zero()
   if self.gradPrevOutput then
      grad_next_h:copy(self.gradPrevOutput)
   end
   if self.userNextGradCell then
      grad_next_c:copy(self.userNextGradCell)
   end
   local all = self.grad_a_buffer:resize(T, N, 4 * H)
   for t = T, 1, -1 do
      local prev_c = t == 1 and self.first_c or c[t - 1]
      local prev_h = t == 1 and self.first_h or h[t - 1]
      grad_next_h:add(grad_h[t])
      sequence.mask(self, x[t], grad_next_h, grad_next_c)
      local a, grad_a = self.gates[t], all[t]
      local i, f, o, g = gate(a, 1, H), gate(a, 2, H), gate(a, 3, H), gate(a, 4, H)
      local ai, af, ao, ag = gate(grad_a, 1, H), gate(grad_a, 2, H), gate(grad_a, 3, H), gate(grad_a, 4, H)
      -- ai is tanh(c) until its own gradient is known
      ai:tanh(c[t])
      ao:cmul(ai, ai):mul(-1):add(1):cmul(o):cmul(grad_next_h)
      grad_next_c:add(ao)
      ao:mul(o, -1):add(1):cmul(o):cmul(ai):cmul(grad_next_h)
      ag:cmul(g, g):mul(-1):add(1):cmul(i):cmul(grad_next_c)
      ai:mul(i, -1):add(1):cmul(i):cmul(g):cmul(grad_next_c)
      af:mul(f, -1):add(1):cmul(f):cmul(prev_c):cmul(grad_next_c)
      grad_Wh:addmm(scale, prev_h:t(), grad_a)
      grad_next_h:mm(grad_a, Wh:t())
      grad_next_c:cmul(f)
   end
   local flat = all:view(T * N, 4 * H)
   self.grad_x:resize(T * N, D):mm(flat, Wx:t())
   self.grad_x:resize(T, N, D)
   grad_Wx:addmm(scale, x:contiguous():view(T * N, D):t(), flat)
   self.gradBias:add(scale, flat:sum(1):view(-1))
   self.grad_h0:resize(N, H):copy(grad_next_h)
   self.grad_c0:resize(N, H):copy(grad_next_c)
   self.userGradPrevOutput, self.userGradPrevCell = self.grad_h0, self.grad_c0
   self.gradPrevOutput = nil
   local grad_x = sequence.order(self, self.grad_x)
   self.gradInput = self.given == 2 and {self.grad_c0, self.grad_h0, grad_x}
      or self.given == 1 and {self.grad_h0, grad_x} or grad_x
   return self.gradInput
end

sequence.methods(SeqLSTM, parent)

function SeqLSTM:forget()
   self.h0:resize(0)
   self.c0:resize(0)
   self.cell:set()
   self._output = nil
   return self
end

function SeqLSTM:clearState()
   return sequence.clear(self, BUFFERS, {'_output', 'first_h', 'first_c', 'userGradPrevOutput', 'userGradPrevCell'})
end

-- An nn.FastLSTM with the same parameters, for one step at a time.
function SeqLSTM:toFastLSTM()
   local D, H = self:sizes()
   local lstm = nn.FastLSTM(D, H):type(self.weight:type())
   local parameters, gradients = lstm:parameters()
   for _, pair in ipairs{{parameters, self.weight, self.bias}, {gradients, self.gradWeight, self.gradBias}} do
      local to, weight, bias = unpack(pair)
      for place, k in ipairs{1, 4, 2, 3} do -- its gates are i, g, f, o
         local columns = gate(weight, k, H)
         to[1]:narrow(1, (place - 1) * H + 1, H):copy(columns:narrow(1, 1, D):t())
         to[3]:narrow(1, (place - 1) * H + 1, H):copy(columns:narrow(1, D + 1, H):t())
         to[2]:narrow(1, (place - 1) * H + 1, H):copy(bias:narrow(1, (k - 1) * H + 1, H))
      end
   end
   return lstm
end

function SeqLSTM:__tostring__()
   return string.format('%s(%d -> %d)', torch.type(self), self.inputsize, self.outputsize)
end
