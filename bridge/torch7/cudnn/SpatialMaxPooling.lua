-- nn.SpatialMaxPooling.
local SpatialMaxPooling, parent = torch.class('cudnn.SpatialMaxPooling', 'nn.SpatialMaxPooling')

function SpatialMaxPooling:__init(kW, kH, dW, dH, padW, padH)
   parent.__init(self, kW, kH, dW, dH, padW, padH)
   self.iSize = torch.LongStorage(4):fill(0)
end
