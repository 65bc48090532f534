-- What programs ask of convolutions to choose an algorithm. The wishes are kept in the fields that cuDNN's have, and
-- torch's kernels choose.
local algorithms = {}

function algorithms.fastest(self, mode)
   self.fastest_mode = mode == nil or mode
   self.fmode, self.bdmode, self.bwmode = nil, nil, nil
   return self
end

-- The algorithms for output, gradInput and gradient of the weights.
function algorithms.setMode(self, fmode, bdmode, bwmode)
   self.fmode = fmode or self.fmode
   self.bdmode = bdmode or self.bdmode
   self.bwmode = bwmode or self.bwmode
   return self
end

function algorithms.resetMode(self)
   self.fmode, self.bdmode, self.bwmode = nil, nil, nil
   return self
end

-- Descriptors belong to cuDNN; there are none here.
function algorithms.resetWeightDescriptors()
end

function algorithms.clearDesc(self)
   self.iSize = nil
end

-- Give these methods to a class.
return function(class)
   for name, method in pairs(algorithms) do
      class[name] = method
   end
end
