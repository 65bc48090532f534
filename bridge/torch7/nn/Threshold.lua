-- x where it is above `threshold`, `val` elsewhere.
local kernel = require 'nn.kernel'

local Threshold, parent = torch.class('nn.Threshold', 'nn.Module')

function Threshold:__init(th, v, ip)
   parent.__init(self)
   self.threshold = th or 1e-6
   self.val = v or 0
   if (th and type(th) ~= 'number') or (v and type(v) ~= 'number') then
      error('nn.Threshold(threshold, value)')
   end
   if ip and type(ip) ~= 'boolean' then
      error('in-place flag must be boolean')
   end
   self.inplace = ip or false
   self:validateParameters()
end

function Threshold:updateOutput(input)
   self:validateParameters()
   if self.threshold == self.val then
      if self.inplace then
         self.output:set(input)
         return self.output:cmax(self.val)
      end
      return self.output:resizeAs(input):cmax(input, self.val)
   end
   if self.inplace then
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input)
   end
   return self.output:maskedFill(input:gt(self.threshold):eq(0), self.val) and self.output
end

function Threshold:updateGradInput(input, gradOutput)
   self:validateParameters()
   gradOutput = kernel.matching(gradOutput, input)
   -- in place, the input is gone, but its output lies on the same side of the threshold
   if self.inplace then
      self.gradInput:set(gradOutput)
      return self.gradInput:cmul(self.output.new():gt(self.output, self.threshold))
   end
   self.gradInput:resizeAs(input):gt(input, self.threshold)
   return self.gradInput:cmul(gradOutput)
end

function Threshold:validateParameters()
   self.inplace = self.inplace or false -- old files lack it
   if self.inplace and self.val > self.threshold then
      error('in-place processing requires value (' .. self.val .. ') not exceed threshold (' .. self.threshold .. ')')
   end
end
