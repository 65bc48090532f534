-- log(1 + exp(beta x)) / beta; x itself where beta x passes a threshold.
local aten = require 'torch.aten'
local bend = require 'nn.bend'

local exp, log1p, expm1 = aten.op('exp.out', 'TT'), aten.op('log1p.out', 'TT'), aten.op('expm1.out', 'TT')

local SoftPlus, parent = torch.class('nn.SoftPlus', 'nn.Module')

function SoftPlus:__init(beta)
   parent.__init(self)
   self.beta = beta or 1
   self.threshold = 20
end

function SoftPlus:updateOutput(input)
   local output = self.output:resizeAs(input):mul(input, self.beta)
   exp(output, output)
   log1p(output, output)
   return bend.softplus(output, input, output, self.beta, self.threshold)
end

function SoftPlus:updateGradInput(input, gradOutput)
   local fall = self.output.new():resizeAs(input):mul(self.output, -self.beta)
   expm1(fall, fall)
   local gradInput = self.gradInput:resizeAs(input):mul(self.output, self.beta)
   return bend.softplusback(gradInput, gradInput, gradOutput, fall, self.threshold)
end
