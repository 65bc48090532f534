-- Methods of dropouts that do not depend on what is dropped; `parent` is the class's own.
return function(class, parent)
   function class:setp(p)
      self.p = p
   end

   function class:__tostring__()
      return string.format('%s(%f)', torch.type(self), self.p)
   end

   function class:clearState()
      if self.noise then
         self.noise:set()
      end
      return parent.clearState(self)
   end
end
