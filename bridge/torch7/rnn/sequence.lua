-- What SeqLSTM and SeqGRU have in common: sequences as tensors (steps x batch x numbers, or with `batchfirst` the batch
-- before the steps), states that are given with the input, or remembered, or zeros.
local sequence = {}

local function expect(self, what, t, ...)
   local sizes = {...}
   local fits = t:dim() == #sizes
   for d, size in ipairs(sizes) do
      fits = fits and t:size(d) == size
   end
   if not fits then
      error(string.format('%s: %s must be %s, got %s', torch.type(self), what, table.concat(sizes, ' x '),
         table.concat(t:size():totable(), ' x ')), 0)
   end
end

-- Parameters for `gates` gates side by side, the rows of the input above those of the output, and the buffers that are
-- named.
function sequence.prepare(self, D, H, gates, buffers)
   self.weight, self.gradWeight = torch.Tensor(D + H, gates * H), torch.Tensor(D + H, gates * H):zero()
   self.bias, self.gradBias = torch.Tensor(gates * H), torch.Tensor(gates * H):zero()
   self:reset()
   for _, name in ipairs(buffers) do
      self[name] = torch.Tensor()
   end
   self._remember = 'neither'
   self.batchfirst = false
   self.maskzero = false
end

-- Empty the buffers, and forget what else a pass has left.
function sequence.clear(self, buffers, rest)
   for _, name in ipairs(buffers) do
      self[name]:set()
   end
   for _, name in ipairs(rest) do
      self[name] = nil
   end
   self.output, self.gradInput = self.weight.new(), self.weight.new()
   return self
end

-- The columns of the k-th gate.
function sequence.gate(gates, k, H)
   return gates:narrow(2, (k - 1) * H + 1, H)
end

-- The states before the first step (as many as there are in the input), the sequence, and the gradient, steps first.
function sequence.parts(self, input, gradOutput, states)
   local given, x = {}, input
   if torch.type(input) == 'table' then
      if #input < 2 or #input > states + 1 then
         error(string.format('%s: expected a tensor, or a table of 2 to %d tensors, got a table of %d',
            torch.type(self), states + 1, #input), 0)
      end
      given = {unpack(input, 1, #input - 1)}
      x = input[#input]
   end
   if not torch.isTensor(x) or x:dim() ~= 3 then
      error(string.format('%s: a sequence has 3 dimensions (steps, batch, numbers), got %s', torch.type(self),
         torch.isTensor(x) and x:dim() or torch.type(x)), 0)
   end
   if self.batchfirst then
      x = x:transpose(1, 2)
      gradOutput = gradOutput and gradOutput:transpose(1, 2)
   end
   local T, N, D, H = x:size(1), x:size(2), self:sizes()
   expect(self, 'the sequence', x, T, N, D)
   for _, state in ipairs(given) do
      expect(self, 'a state', state, N, H)
   end
   if gradOutput then
      expect(self, 'gradOutput', gradOutput, T, N, H)
   end
   return given, x, gradOutput
end

-- A state before the first step, in `buffer`: the user's, the last one of the pass before, or zeros.
function sequence.initial(self, buffer, user, last, N, H)
   if user then
      expect(self, 'a state that is set', user, N, H)
      return buffer:resize(N, H):copy(user)
   elseif self:remembers() and last and last:dim() == 3 and last:nElement() > 0 then
      if last:size(2) ~= N then
         error(string.format('%s: batch sizes must be the same to remember states: they were %d, now %d',
            torch.type(self), last:size(2), N), 0)
      end
      return buffer:resize(N, H):copy(last[last:size(1)])
   end
   return buffer:resize(N, H):zero()
end

-- Zero the rows of tensors where a step's input is padding.
function sequence.mask(self, x, ...)
   if self.maskzero then
      local zero = x:ne(0):sum(2):eq(0):view(-1, 1):byte()
      for i = 1, select('#', ...) do
         local t = select(i, ...)
         t:maskedFill(zero:expandAs(t), 0)
      end
   end
end

-- The sequence in the order that the caller has.
function sequence.order(self, t)
   return self.batchfirst and t:transpose(1, 2) or t
end

-- The methods that are alike. backward does all at once: updateGradInput and accGradParameters are parts of it.
function sequence.methods(class, parent)
   function class:updateGradInput(input, gradOutput)
      if self.recompute_backward then
         self:backward(input, gradOutput, 1)
      end
      return self.gradInput
   end

   function class:accGradParameters(input, gradOutput, scale)
      if self.recompute_backward then
         self:backward(input, gradOutput, scale)
      end
   end

   function class:remember(when)
      return self:setRemember(when)
   end

   function class:maskZero()
      self.maskzero = true
      return self
   end

   for _, name in ipairs{'training', 'evaluate'} do
      class[name] = function(self)
         if (self.train == false) == (name == 'training') then
            self:forget()
         end
         parent[name](self)
      end
   end

   function class:resetStates()
      return self:forget()
   end
end

return sequence
