-- A lookup table that remembers how many words it has and how long their vectors are.
local Dictionary, parent = torch.class('nn.Dictionary', 'nn.LookupTable')

function Dictionary:__init(dictSize, embeddingSize, accUpdate)
   parent.__init(self, dictSize, embeddingSize)
   self.accUpdate = accUpdate
   if accUpdate then -- gradients go straight into the weights
      self.gradWeight = nil
      self.accGradParameters = function() end
   end
end
