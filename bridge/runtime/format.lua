-- string.format for a LuaJIT whose %f prints wrong digits for numbers below about 1e-150 (1e-300 is printed as
-- 828186723201256137.5). With every precision that %f accepts, the right digits are zeros, so it is given 0 instead.
local native = string.format
local select, type = select, type

local function tiny(x)
   return type(x) == 'number' and x < 1e-100 and x > -1e-100 and x ~= 0
end

-- The arguments, with a zero of the same sign in place of every tiny number that %f will print.
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
   return native(text, ...) -- a tail call, so that errors name the caller's line
end

return function()
   if native('%.1f', 1e-300) ~= '0.0' then
      string.format = format
   end
end
