-- GRU over whole sequences: steps x batch x inputSize to steps x batch x outputSize. The input may be {h0, x}.
--
-- `weight` has the rows of the input above those of the output; its columns, and `bias`, the gates r and u and the new
-- content: h(t) = (1 - u) tanh(Wx(t) + U(r h(t - 1)) + b) + u h(t - 1).
local sequence = require 'rnn.sequence'

local SeqGRU, parent = torch.class('nn.SeqGRU', 'nn.Module')

local gate = sequence.gate
local BUFFERS = {'gates', 'buffer1', 'buffer2', 'grad_a_buffer', 'h0', 'grad_h0', 'grad_x'}

function SeqGRU:__init(inputSize, outputSize)
   parent.__init(self)
   outputSize = outputSize or inputSize
   self.inputSize, self.outputSize = inputSize, outputSize
   sequence.prepare(self, inputSize, outputSize, 3, BUFFERS)
end

function SeqGRU:reset(std)
   self.bias:zero()
   self.bias:narrow(1, self.outputSize + 1, self.outputSize):fill(1)
   self.weight:normal(0, std or 1 / math.sqrt(self.outputSize + self.inputSize))
   return self
end

function SeqGRU:sizes()
   return self.inputSize, self.outputSize
end

function SeqGRU:updateOutput(input)
   self.recompute_backward = true
   local given, x = sequence.parts(self, input, nil, 1)
   local T, N, D, H = x:size(1), x:size(2), self:sizes()
   self.given = #given
   self._output = self._output or self.weight.new()
   local h = self._output
   local h0 = given[1] or sequence.initial(self, self.h0, self.userPrevOutput, h, N, H)
   local Wx, Wh = self.weight:narrow(1, 1, D), self.weight:narrow(1, D + 1, H)
   local Wg, Wc = Wh:narrow(2, 1, 2 * H), gate(Wh, 3, H)
   h:resize(T, N, H)
   self.gates:resize(T, N, 3 * H)
   local flat = self.gates:view(T * N, 3 * H)
   flat:copy(self.bias:view(1, 3 * H):expandAs(flat))
   flat:addmm(x:contiguous():view(T * N, D), Wx)
   local prev_h = h0
   for t = 1, T do
      local a, next_h = self.gates[t], h[t]
      local both, u, candidate = a:narrow(2, 1, 2 * H), gate(a, 2, H), gate(a, 3, H)
      both:addmm(prev_h, Wg):sigmoid()
      next_h:cmul(gate(a, 1, H), prev_h)
      candidate:addmm(next_h, Wc):tanh()
      next_h:cmul(u, prev_h):add(candidate):addcmul(-1, u, candidate)
      sequence.mask(self, x[t], next_h, a)
      prev_h = next_h
   end
   self.first_h = h0
   self.userPrevOutput = nil
   self.output = sequence.order(self, h)
   return self.output
end

function SeqGRU:backward(input, gradOutput, scale)
   scale = scale or 1
   self.recompute_backward = false
   local _, x, grad_h = sequence.parts(self, input, gradOutput, 1)
   local T, N, D, H = x:size(1), x:size(2), self:sizes()
   local h = self._output
   local Wx, Wh = self.weight:narrow(1, 1, D), self.weight:narrow(1, D + 1, H)
   local grad_Wx, grad_Wh = self.gradWeight:narrow(1, 1, D), self.gradWeight:narrow(1, D + 1, H)
   local grad_next_h, kept = self.buffer1:resize(N, H):zero(), self.buffer2:resize(N, H)
   if self.gradPrevOutput then
      grad_next_h:copy(self.gradPrevOutput)
   end
   local all = self.grad_a_buffer:resize(T, N, 3 * H)
   for t = T, 1, -1 do
      local prev_h = t == 1 and self.first_h or h[t - 1]
      grad_next_h:add(grad_h[t])
      sequence.mask(self, x[t], grad_next_h)
      local a, grad_a = self.gates[t], all[t]
      local r, u, candidate = gate(a, 1, H), gate(a, 2, H), gate(a, 3, H)
      local ar, au, ac = gate(grad_a, 1, H), gate(grad_a, 2, H), gate(grad_a, 3, H)
      ac:mul(u, -1):add(1):cmul(grad_next_h)
      ac:addcmul(-1, torch.cmul(candidate, candidate), ac)
      au:add(prev_h, -1, candidate):cmul(grad_next_h):cmul(u):addcmul(-1, u, au)
      kept:mm(ac, gate(Wh, 3, H):t()) -- the gradient of r h(t - 1)
      ar:cmul(kept, prev_h):cmul(r):addcmul(-1, r, ar)
      grad_next_h:cmul(u):addcmul(1, kept, r)
      grad_next_h:addmm(grad_a:narrow(2, 1, 2 * H), Wh:narrow(2, 1, 2 * H):t())
      grad_Wh:narrow(2, 1, 2 * H):addmm(scale, prev_h:t(), grad_a:narrow(2, 1, 2 * H))
      gate(grad_Wh, 3, H):addmm(scale, kept:cmul(r, prev_h):t(), ac)
   end
   local flat = all:view(T * N, 3 * H)
   self.grad_x:resize(T * N, D):mm(flat, Wx:t())
   self.grad_x:resize(T, N, D)
   grad_Wx:addmm(scale, x:contiguous():view(T * N, D):t(), flat)
   self.gradBias:add(scale, flat:sum(1):view(-1))
   self.grad_h0:resize(N, H):copy(grad_next_h)
   self.userGradPrevOutput = self.grad_h0
   self.gradPrevOutput = nil
   local grad_x = sequence.order(self, self.grad_x)
   self.gradInput = self.given == 1 and {self.grad_h0, grad_x} or grad_x
   return self.gradInput
end

sequence.methods(SeqGRU, parent)

function SeqGRU:forget()
   self.h0:resize(0)
   self._output = nil
   return self
end

function SeqGRU:clearState()
   return sequence.clear(self, BUFFERS, {'_output', 'first_h', 'userGradPrevOutput'})
end

-- An nn.GRU with the same parameters, for one step at a time.
function SeqGRU:toGRU()
   local D, H = self:sizes()
   local gru = nn.GRU(D, H):type(self.weight:type())
   local parameters, gradients = gru:parameters()
   for _, pair in ipairs{{parameters, self.weight, self.bias}, {gradients, self.gradWeight, self.gradBias}} do
      local to, weight, bias = unpack(pair)
      local both, new = weight:narrow(2, 1, 2 * H), gate(weight, 3, H)
      to[1]:copy(both:narrow(1, 1, D):t())
      to[2]:copy(bias:narrow(1, 1, 2 * H))
      to[3]:copy(both:narrow(1, D + 1, H):t())
      to[4]:copy(new:narrow(1, 1, D):t())
      to[5]:copy(bias:narrow(1, 2 * H + 1, H))
      to[6]:copy(new:narrow(1, D + 1, H):t())
   end
   return gru
end

function SeqGRU:__tostring__()
   return string.format('%s(%d -> %d)', torch.type(self), self.inputSize, self.outputSize)
end
