-- nn.VolumetricMaxPooling.
local VolumetricMaxPooling, parent = torch.class('cudnn.VolumetricMaxPooling', 'nn.VolumetricMaxPooling')

function VolumetricMaxPooling:__init(kT, kW, kH, dT, dW, dH, padT, padW, padH)
   parent.__init(self, kT, kW, kH, dT, dW, dH, padT, padW, padH)
   self.iSize = torch.LongStorage(5):fill(0)
end
