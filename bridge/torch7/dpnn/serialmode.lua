-- How much of modules an nn.Serial writes: everything (heavySerial), without what a pass leaves behind (mediumSerial),
-- without gradients too (lightSerial).
local Module = nn.Module

Module.dpnn_mediumEmpty = {'output', 'gradInput', 'momGradParams', 'dpnn_input'}
Module.dpnn_lightEmpty = Module.dpnn_gradParameters
Module.dpnn_serialEmpty = {}

local function modes(value, choose, seen)
   if seen[value] then
      return
   end
   seen[value] = true
   if torch.isTypeOf(value, 'nn.Module') then
      value.dpnn_serialEmpty = choose(value)
   end
   for key, inner in pairs(value) do
      if type(inner) == 'table' and key ~= 'dpnn_serialEmpty' then
         modes(inner, choose, seen)
      end
   end
end

-- Let the named fields be written empty, here and in all modules inside.
function Module:serialMode(empty)
   if torch.type(empty) ~= 'table' then
      error('serialMode: expected a table of names, got ' .. torch.type(empty))
   end
   modes(self, function() return empty end, {})
   return self
end

function Module:heavySerial()
   return self:serialMode{}
end

function Module:mediumSerial()
   modes(self, function(module) return module.dpnn_mediumEmpty end, {})
   return self
end

function Module:lightSerial()
   modes(self, function(module)
      local names = {unpack(module.dpnn_mediumEmpty)}
      for _, name in ipairs(module.dpnn_lightEmpty) do
         names[#names + 1] = name
      end
      return names
   end, {})
   return self
end

-- This module in an nn.Serial.
function Module:Serial(tensortype)
   return nn.Serial(self, tensortype)
end
