-- Help texts for functions and packages.
local sys = require 'sys'

local COLUMN = 40 -- where the help of an argument begins

local function entry(xlua, argument, named)
   local key = named and argument.arg .. ' = ' .. argument.type or argument.type
   key = '    ' .. (argument.req and key or '[' .. key .. ']')
   local line = key .. (' '):rep(COLUMN - #key) .. '-- ' .. (argument.help or '')
   if not named then
      return line .. '\n'
   end
   local default = argument.default
   if type(default) == 'table' then
      line = line .. '  [default = ' .. xlua.table2string(default) .. ']'
   elseif default ~= nil then
      line = line .. '  [default = ' .. tostring(default) .. ']'
   elseif argument.defaulta then
      line = line .. '  [default == ' .. argument.defaulta .. ']'
   end
   return line .. '\n'
end

return function(xlua)
   -- The usage of a function whose arguments are {arg=, type=, help=, req=, default=, defaulta=}; those without
   -- `arg` go by position, an empty string between them begins another way to call it.
   function xlua.usage(name, description, example, ...)
      local colors = sys.COLORS
      local banner = ('+'):rep(69)
      local arguments = {...}
      arguments = arguments[1] and arguments[1].tabled or arguments
      local named = arguments[1] ~= nil and arguments[1] ~= '' and arguments[1].arg ~= nil

      local pieces = {banner, '\n', colors.Magenta, name, colors.none, '\n'}
      local function add(...)
         for i = 1, select('#', ...) do
            pieces[#pieces + 1] = (select(i, ...))
         end
      end
      if description then
         add('\n', description, '\n')
      end
      add('\n', colors.blue, '> ', colors.none, 'usage:\n', colors.cyan)
      add(name, named and '{\n' or '(\n')
      for _, argument in ipairs(arguments) do
         if argument == '' then
            add(')\n', name, '(\n')
         else
            add(entry(xlua, argument, named))
         end
      end
      add(named and '}\n' or ')\n', colors.none)
      if example then
         add('\n', colors.cyan, example, colors.none, '\n')
      end
      add(banner)
      return table.concat(pieces)
   end

   -- Give a package a text that printing it shows.
   function xlua.usage_module(module, name, description)
      local banner = ('+'):rep(69)
      local text = sys.COLORS.magenta .. banner .. '\nPACKAGE:\n' .. name .. '\n'
      if description then
         text = text .. '\nDESC:\n' .. description .. '\n'
      end
      text = text .. banner .. '+' .. sys.COLORS.none
      local metatable = getmetatable(module) or {}
      metatable.__tostring = function() return text end
      setmetatable(module, metatable)
      return text
   end
end
