-- A module whose time is taken: after every print_interval passes forward (and backward) their mean is printed.
local sys = require 'sys'

local Profile, parent = torch.class('nn.Profile', 'nn.Decorator')

function Profile:__init(module, print_interval, name)
   parent.__init(self, module)
   self.print_interval = print_interval or 100
   self.name = name or torch.type(module)
   self.module = module
   self.numFwds = 0
   self.numBwds = 0
   self.summedFwdTime = 0
   self.summedBwdTime = 0
end

local function report(self, what, total)
   print(string.format('%s took %.3f seconds for %d %s passes', self.name, total, self.print_interval, what))
end

function Profile:updateOutput(input)
   local started = sys.clock()
   self.output = self.module:updateOutput(input)
   self.summedFwdTime = self.summedFwdTime + sys.clock() - started
   self.numFwds = self.numFwds + 1
   if self.numFwds % self.print_interval == 0 then
      report(self, 'forward', self.summedFwdTime)
      self.numFwds, self.summedFwdTime = 0, 0
   end
   return self.output
end

function Profile:updateGradInput(input, gradOutput)
   local started = sys.clock()
   self.gradInput = self.module:updateGradInput(input, gradOutput)
   self.summedBwdTime = self.summedBwdTime + sys.clock() - started
   self.numBwds = self.numBwds + 1
   if self.numBwds % self.print_interval == 0 then
      report(self, 'backward', self.summedBwdTime)
      self.numBwds, self.summedBwdTime = 0, 0
   end
   return self.gradInput
end

-- Part of the backward pass.
function Profile:accGradParameters(input, gradOutput, scale)
   local started = sys.clock()
   self.module:accGradParameters(input, gradOutput, scale)
   self.summedBwdTime = self.summedBwdTime + sys.clock() - started
end
