-- Tables of values in the same order on every node: programs ask for `ipc.utils` by this name.
local utils = {}

-- Numbers before strings, each in their order; other keys, and both kinds of the same text, by name.
local function before(a, b)
   local ta, tb = type(a), type(b)
   if ta == tb and (ta == 'number' or ta == 'string') then
      return a < b
   elseif ta ~= tb then
      return ta < tb
   end
   return tostring(a) < tostring(b)
end

-- Call f with each value of a table and of the tables in it; what it returns, unless nil, takes the value's place.
function utils.walkTable(t, f)
   local keys = {}
   for key in pairs(t) do
      keys[#keys + 1] = key
   end
   table.sort(keys, before)
   for _, key in ipairs(keys) do
      local value = t[key]
      if type(value) == 'table' then
         utils.walkTable(value, f)
      else
         local replacement = f(value)
         if replacement ~= nil then
            t[key] = replacement
         end
      end
   end
end

return utils
