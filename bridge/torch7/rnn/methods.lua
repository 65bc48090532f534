-- What all modules do about time: containers ask what is in them.
local Module = nn.Module

local function inside(name)
   Module[name] = function(self, ...)
      for _, module in ipairs(self.modules or {}) do
         module[name](module, ...)
      end
      return self
   end
end

inside('forget') -- begin a new sequence
inside('remember') -- 'both', 'train', 'eval' or 'neither': which passes go on where the last one ended
inside('maxBPTTstep') -- how many steps gradients go back
inside('setOutputStep') -- let outputs and gradients be those of a step

-- Is a pass of this module to go on where the last one ended?
function Module:remembers()
   local when = self._remember
   return when == 'both' or when == (self.train ~= false and 'train' or 'eval')
end

local WHEN = {both = true, train = true, eval = true, neither = true}

-- Set that, for modules that take whole sequences.
function Module:setRemember(when)
   when = when == nil and 'both' or when
   if not WHEN[when] then
      error(string.format("%s: remember expects 'both', 'train', 'eval' or 'neither', got %s", torch.type(self),
         tostring(when)), 3)
   end
   self._remember = when
   return self
end
