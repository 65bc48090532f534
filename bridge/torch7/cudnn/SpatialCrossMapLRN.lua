-- nn.SpatialCrossMapLRN.
local SpatialCrossMapLRN, parent = torch.class('cudnn.SpatialCrossMapLRN', 'nn.SpatialCrossMapLRN')

function SpatialCrossMapLRN:__init(size, alpha, beta, k)
   parent.__init(self, size or 5, alpha, beta, k)
   self.iSize = torch.LongStorage(4):fill(0)
   if self.size > 16 or self.k < 1e-5 or self.beta < 0.01 then
      error(string.format('cudnn.SpatialCrossMapLRN: size must be from 1 to 16, k at least 1e-5, beta at least 0.01, '
         .. 'got size %g, k %g, beta %g', self.size, self.k, self.beta))
   end
end

function SpatialCrossMapLRN:updateOutput(input)
   if self.K then -- as old files call it
      self.k, self.K = self.K, nil
   end
   return parent.updateOutput(self, input)
end
