-- x where it is positive, a random slope times x elsewhere; evaluation takes the mean slope.
local RReLU, parent = torch.class('nn.RReLU', 'nn.Module')

function RReLU:__init(l, u, ip)
   parent.__init(self)
   self.lower = l or 1 / 8
   self.upper = u or 1 / 3
   if not (self.lower <= self.upper and self.lower >= 0 and self.upper >= 0) then
      error(string.format('0 <= lower <= upper expected, got %g and %g', self.lower, self.upper))
   end
   self.noise = torch.Tensor()
   if ip and type(ip) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = ip or false
   self.train = true
end

-- One draw for each element that is not positive, in order.
local function draw(self, input)
   self.noise:resizeAs(input):fill(1)
   local low = torch.le(input, 0)
   local count = low:sum()
   if count > 0 then
      self.noise:maskedCopy(low, input.new(count):uniform(self.lower, self.upper))
   end
end

-- The mean slope where an element is not positive, 1 elsewhere.
local function slopes(self, input)
   local slope = torch.le(input, 0):typeAs(input)
   return slope:mul((self.lower + self.upper) / 2 - 1):add(1)
end

function RReLU:updateOutput(input)
   local factor
   if self.train then
      draw(self, input)
      factor = self.noise
   else
      factor = slopes(self, input)
   end
   if self.inplace then
      self.output:set(input:cmul(factor))
   else
      self.output:resizeAs(input):cmul(input, factor)
   end
   return self.output
end

function RReLU:updateGradInput(input, gradOutput)
   local random = self.train and self.upper - self.lower > 1e-6
   local factor = random and self.noise or slopes(self, input)
   if self.inplace then
      self.gradInput:set(gradOutput:cmul(factor))
   else
      self.gradInput:resizeAs(input):cmul(gradOutput, factor)
   end
   return self.gradInput
end

function RReLU:__tostring__()
   return string.format('%s (l:%f, u:%f)', torch.type(self), self.lower, self.upper)
end

function RReLU:clearState()
   if self.noise then
      self.noise:set()
   end
   return parent.clearState(self)
end
