-- The program itself: its name, its platform, its arguments.
local path = require 'pl.path'
local utils = require 'pl.utils'

local app = {}

-- The file name of the script; nil outside of one.
function app.script_name()
   return arg and arg[0] and arg[0] ~= '' and arg[0] or nil
end

-- Let the script `require` what lies beside it (and in `base` there). The directory that was added.
function app.require_here(base)
   local directory = path.dirname(app.script_name() or '')
   if not path.isabs(directory) then
      directory = path.join(path.currentdir(), directory)
   end
   if base then
      directory = path.join(directory, base)
   end
   directory = directory:gsub('/*$', '/')
   package.path = directory .. '?.lua;' .. directory .. '?/init.lua;' .. package.path
   return directory
end

-- A file in the program's own directory below the user's.
function app.appfile(name)
   local program = path.splitext(path.basename(app.script_name() or 'lua'))
   local directory = path.join(path.expanduser('~'), '.' .. program)
   if not path.isdir(directory) then
      local ok, message = path.mkdir(directory)
      if not ok then
         return utils.raise('cannot create ' .. directory .. ': ' .. message)
      end
   end
   return path.join(directory, name)
end

function app.platform()
   return jit.os
end

-- The command that runs Lua here.
function app.lua()
   return arg and arg[-1] or 'lua', arg and arg[-1] or 'lua'
end

-- Flags and parameters of a command line: `takes` lists (or holds) the flags that take a value.
function app.parse_args(line, takes)
   line = line or arg or {}
   local needs = {}
   for key, value in pairs(takes or {}) do
      needs[type(key) == 'number' and value or key] = true
   end
   local flags, rest = {}, {}
   local i = 1
   while i <= #line do
      local word = line[i]
      local name = word:match('^%-%-?(.+)')
      if not name or word == '-' or tonumber(word) then
         rest[#rest + 1] = word
      else
         local key, value = name:match('^([^=:]+)[=:](.+)$')
         if key then
            flags[key] = value
         elseif needs[name] then
            i = i + 1
            if line[i] == nil or line[i]:find('^%-') then
               return utils.raise(("no value for '%s'"):format(name))
            end
            flags[name] = line[i]
         else
            flags[name] = true
         end
      end
      i = i + 1
   end
   return flags, rest
end

return app
