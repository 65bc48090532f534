-- Convolutions in groups: each group of output planes sees only its group of the input's.
return function(self, nInputPlane, nOutputPlane, groups)
   groups = groups or 1
   if nInputPlane % groups ~= 0 or nOutputPlane % groups ~= 0 then
      error(string.format('%s: %d input and %d output planes cannot be divided into %s groups', torch.type(self),
         nInputPlane, nOutputPlane, tostring(groups)), 3)
   end
   self.groups = groups
   return groups
end
