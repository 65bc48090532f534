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
   function xlua.print(...)
      local texts = {}
      for i = 1, math.max(select('#', ...), 1) do
         texts[i] = show((select(i, ...)))
      end
      io.write(table.concat(texts, '    '), '\n')
   end

   -- From now on everything printed goes to a file too.
   function xlua.log(name)
      paths.mkdir(paths.dirname(name))
      local file = assert(io.open(name, 'w'))
      local write = io.write
      _G.print = xlua.print
      rawset(io, 'write', function(...)
         write(...)
         file:write(...)
         file:flush()
      end)
   end
end
