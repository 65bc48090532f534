-- print as th has it: numbers, strings and their like on one line, each with a tab behind it; tables field by field,
-- with tensors inside as their type and size. A table that has a text of its own is that text, but not inside another.
local colorize = require 'trepl.colorize'

local printing = {depth = 5} -- how deep tables are shown

-- A userdata's text inside a table.
local function brief(object)
   local torch = package.loaded.torch
   local name = torch and torch.typename(object) or ''
   local short = name:match('torch%.(.+)')
   if name:find('torch.*Storage') then
      return short .. ' - size: ' .. object:size()
   elseif not name:find('torch.*Tensor') then
      return tostring(object)
   elseif object:nDimension() == 0 then
      return short .. ' - empty'
   end
   return short .. ' - size: ' .. table.concat(object:size():totable(), 'x')
end

local colours = {number = 'cyan', boolean = 'blue', ['function'] = 'magenta', userdata = 'red', cdata = 'red',
   ['nil'] = 'Black', thread = '_black'}

local function coloured(value, nested)
   local kind = type(value)
   if kind == 'string' then
      return nested and colorize.Black('"') .. colorize.green(value) .. colorize.Black('"') or colorize.none(value)
   elseif kind == 'userdata' or kind == 'cdata' then
      return colorize.red(brief(value))
   end
   return colorize[colours[kind]](tostring(value))
end

local function show(object, depth)
   local indent = (' '):rep(depth * 4)
   if next(object) == nil then
      io.write(indent, '{}\n')
      return
   end
   io.write(indent, '{\n')
   for key, value in pairs(object) do
      local name = indent .. '  ' .. tostring(key) .. ' : '
      if type(value) ~= 'table' then
         io.write(name, coloured(value, true), '\n')
      elseif depth >= printing.depth - 1 or next(value) == nil then
         io.write(name, '{...}\n')
      else
         io.write(name, '\n')
         show(value, depth + 1)
      end
   end
   io.write(indent, '}\n')
end

function printing.print(...)
   local n = select('#', ...)
   for i = 1, n do
      local value = select(i, ...)
      local kind = type(value)
      local metatable = getmetatable(value)
      if kind == 'userdata' or kind == 'cdata' or kind == 'table' and metatable and metatable.__tostring then
         io.write(tostring(value), '\n')
      elseif kind == 'table' then
         show(value, 0)
      else
         io.write(coloured(value), i == n and '\t\n' or '\t')
      end
   end
   io.flush() -- what is printed can be followed in a file
end

return printing
