-- The input as it is; the gradient as a copy, which may be changed.
local CopyGrad = torch.class('nn.CopyGrad', 'nn.Identity')

function CopyGrad:updateGradInput(_, gradOutput)
   self.gradInput = nn.utils.recursiveCopy(self.gradInput, gradOutput)
   return self.gradInput
end
