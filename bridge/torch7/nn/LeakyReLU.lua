-- x where it is positive, negval * x elsewhere.
local LeakyReLU, parent = torch.class('nn.LeakyReLU', 'nn.Module')

function LeakyReLU:__init(negval, ip)
   parent.__init(self)
   if type(negval) == 'boolean' then
      negval, ip = nil, negval
   end
   self.negval = negval or 1 / 100
   if ip and type(ip) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = ip or false
   if self.inplace and self.negval < 0 then
      error('in-place processing requires a positive slope, got ' .. self.negval)
   end
end

-- 1 where x is positive, negval elsewhere.
local function slopes(self, x)
   return x.new():gt(x, 0):mul(1 - self.negval):add(self.negval)
end

function LeakyReLU:updateOutput(input)
   local slope = slopes(self, input)
   if self.inplace then
      self.output:set(input)
      return self.output:cmul(slope)
   end
   self.output:resizeAs(input)
   return self.output:cmul(input, slope)
end

function LeakyReLU:updateGradInput(input, gradOutput)
   local slope = slopes(self, input)
   if self.inplace then
      self.gradInput:set(gradOutput)
      return self.gradInput:cmul(slope)
   end
   self.gradInput:resizeAs(input)
   return self.gradInput:cmul(gradOutput, slope)
end

function LeakyReLU:__tostring__()
   return torch.type(self) .. string.format('(%g)', self.negval)
end
