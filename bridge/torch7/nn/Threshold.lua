-- x where it is above `threshold`, `val` elsewhere.
local bend = require 'nn.shared.bend'

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
   return bend.threshold(bend.output(self, input), input, self.threshold, self.val)
end

function Threshold:updateGradInput(input, gradOutput)
   self:validateParameters()
   -- in place, the input is gone, but the output in its memory lies on the same side of the threshold
   return bend.above(bend.gradInput(self, input, gradOutput), input, gradOutput, self.threshold, 0)
end

function Threshold:validateParameters()
   self.inplace = self.inplace or false -- old files lack it
   if self.inplace and self.val > self.threshold then
      error('in-place processing requires value (' .. self.val .. ') not exceed threshold (' .. self.threshold .. ')')
   end
end
