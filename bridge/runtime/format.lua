-- string.format for a LuaJIT whose %f makes digits up for numbers below about 1e-150 (its own 1e-300 is printed as
-- 828186723201256137.5). They are zeros in every precision that %f takes, so zeros are what it is given.
local native = string.format
local select, type = select, type

local function tiny(x)
   return type(x) == 'number' and x < 1e-100 and x > -1e-100 and x ~= 0
end

-- The arguments, with zeros of the same sign for tiny numbers that %f is to print.
local function settled(text, ...)
   local values, n = {...}, 0
   for flags, conversion in text:gmatch('%%([^%a%%]*)([%a%%])') do
      if conversion ~= '%' or flags ~= '' then
         n = n + 1
         if conversion:lower() == 'f' and tiny(values[n]) then
            values[n] = values[n] * 0
         end
      end
   end
   return unpack(values, 1, select('#', ...))
end

local function anytiny(...)
   for i = 1, select('#', ...) do
      if tiny((select(i, ...))) then
         return true
      end
   end
   return false
end

local function format(text, ...)
   local a, b = ...
   if tiny(a) or tiny(b) or (select('#', ...) > 2 and anytiny(...)) then
      return native(text, settled(text, ...))
   end
   return native(text, ...) -- a tail call: errors are told as the caller's
end

return function()
   if native('%.1f', 1e-300) ~= '0.0' then
      string.format = format
   end
end
