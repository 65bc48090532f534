-- Each row divided by its deviation, then times a gain and plus a bias of its column.
--
-- Not its own mean is subtracted from a row before: the means are repeated along the first dimension, as in Torch7, so
-- that they are taken in turn by the elements. Networks that were trained with this need it.
local LayerNormalization, parent = torch.class('nn.LayerNormalization', 'nn.Sequential')

function LayerNormalization:__init(nOutput, bias, eps, affine)
   parent.__init(self)
   self:add(nn.ConcatTable()
      :add(nn.Identity())
      :add(nn.Sequential():add(nn.Mean(2)):add(nn.Replicate(nOutput))))
   self:add(nn.CSubTable())
   self:add(nn.Normalize(2, eps or 1e-10))
   self:add(nn.MulConstant(math.sqrt(nOutput)))
   if affine == nil or affine then
      local shift = nn.Add(nOutput, false)
      shift.bias:fill(bias or 0)
      local gain = nn.CMul(nOutput)
      gain.weight:fill(1)
      self:add(gain)
      self:add(shift)
   end
end
