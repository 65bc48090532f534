-- Looking at the global names: importing a package's into them, listing them, watching for new ones.
local colors = require 'trepl.colors'

local LONGEST = 40 -- characters of a string that are listed

local globals = {}

-- Make what a package holds global; `forced` replaces what has such a name.
function globals.import(package_, forced)
   local returned = require(package_)
   local symbols = rawget(_G, package_) or type(returned) == 'table' and returned
   if not symbols then
      return
   end
   local imported = rawget(_G, '_torchimport') or {}
   rawset(_G, '_torchimport', imported)
   imported[package_] = symbols
   for name, value in pairs(symbols) do
      if not rawget(_G, name) or forced then
         rawset(_G, name, value)
      end
   end
end

local function described(value)
   local kind = type(value)
   if kind == 'table' then
      return torch.type(value) == 'table' and 'table - size: ' .. #value or torch.type(value)
   elseif kind == 'string' then
      local text = value:gsub('\n', '\\n')
      return 'string : "' .. (#text > LONGEST and text:sub(1, LONGEST) .. '...' or text) .. '"'
   elseif kind == 'userdata' and (torch.isTensor(value) or torch.isStorage(value)) then
      local short = torch.typename(value):match('torch%.(.+)')
      if torch.isStorage(value) then
         return short .. ' - size: ' .. value:size()
      elseif value:nDimension() == 0 then
         return short .. ' - empty'
      end
      return short .. ' - size: ' .. table.concat(value:size():totable(), 'x')
   end
   return tostring(value)
end

local function list(chosen)
   local width = 0
   for name in pairs(_G) do
      width = math.max(width, #tostring(name))
   end
   for name, value in pairs(_G) do
      if chosen(name) then
         local label = '[' .. tostring(name) .. ']'
         print(label .. (' '):rep(width - #label + 2) .. ' = ' .. described(value))
      end
   end
end

-- Print the program's globals; with `system`, those that were there before as well.
function globals.who(system)
   local before = rawget(_G, '_preloaded_')
   if system then
      print('== System Variables ==')
      list(function(name) return before[name] end)
   end
   print('== User Variables ==')
   list(function(name) return not before[name] end)
   print('==')
end

local function place()
   local info = debug.getinfo(4, 'Sl')
   if info.currentline > 0 then
      return colors.magenta .. info.source:gsub('^@', '') .. colors.none .. ':' .. colors.green .. info.currentline
         .. colors.none
   end
   return colors.yellow .. '[C-module]' .. colors.none
end

-- Tell of each new global, and of those that are read without being there: by `callback(name, 'newindex' or 'index')`,
-- printed, or (true) as errors.
function globals.monitor_G(callback)
   local report = callback == true and error or print
   local handler = type(callback) == 'function' and callback or nil
   for _, name in ipairs{'stringx', 'tablex', 'path', 'dir', 'text'} do
      rawset(_G, name, require('pl.' .. name))
   end
   local known = {}
   for name in pairs(_G) do
      known[name] = true
   end
   local function tell(name, event, what)
      if handler then
         handler(name, event)
      else
         report(colors.red .. what .. colors.blue .. tostring(name) .. colors.none .. ' @ ' .. place())
      end
   end
   setmetatable(_G, {
      __newindex = function(place_, name, value)
         if not known[name] then
            tell(name, 'newindex', 'created global variable: ')
         end
         known[name] = true
         rawset(place_, name, value)
      end,
      __index = function(_, name)
         tell(name, 'index', 'attempt to read undeclared variable: ')
      end,
   })
end

return globals
