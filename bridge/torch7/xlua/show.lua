-- Printing values, and keeping a log of what is printed.
local paths = require 'paths'
local sys = require 'sys'

local LONGEST = 40 -- characters of a field that are shown

local function field(key, value)
   if type(value) == 'userdata' then
      return '[' .. tostring(key) .. '] = <userdata>'
   end
   local text = tostring(value):gsub('\n', '\\n')
   if #text > LONGEST then
      text = text:sub(1, LONGEST) .. sys.COLORS.none .. ' ... '
   end
   return '[' .. tostring(key) .. '] = ' .. text
end

local function show(object)
   if type(object) ~= 'table' then
      return tostring(object)
   end
   local metatable = getmetatable(object)
   if type(metatable) == 'table' and metatable.__tostring__ then
      return metatable.__tostring__(object)
   end
   local head = tostring(object)
   if head:find('table: ') then
      head = ''
   elseif type(object.usage) == 'string' then
      head = object.usage .. '\n\nFIELDS:\n'
   else
      head = head .. ':\n'
   end
   local fields = {}
   for key, value in pairs(object) do
      fields[#fields + 1] = field(key, value)
   end
   return head .. '{' .. table.concat(fields, ',\n ') .. '}'
end

return function(xlua)
   -- The first value this way, those behind it by print.
   function xlua.print(object, ...)
      io.write(show(object))
      if select('#', ...) > 0 then
         io.write('    ')
         print(...)
      else
         io.write('\n')
      end
   end

   -- From now on everything printed goes to a file too, behind what is in it if `append`.
   function xlua.log(name, append)
      paths.mkdir(paths.dirname(name))
      local file = assert(io.open(name, append and 'a' or 'w'))
      local write = io.write
      rawset(io, '_write', write)
      rawset(_G, '_print', print)
      _G.print = xlua.print
      rawset(io, 'write', function(...)
         write(...)
         for i = 1, select('#', ...) do
            file:write((select(i, ...)))
         end
         file:flush()
      end)
   end
end
