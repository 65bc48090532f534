-- The runtime's own functions and packages in files: by their names, since here most of them stand on C data that no
-- file can hold. What is read is the runtime's own again.
--
-- A name is `module:optim:adam` (a package and the way into it), `class:nn.Module:forward` (a method), or, for tables
-- that functions have as upvalues, `module:optim`, `class:nn.Module` and `constructor:nn.Linear`. A function is written
-- as the bytecode of one that looks the name up and calls it, which any Torch7 can run; its source is called so, too.
local class = require 'torch.class'
local scope = require 'bridge.runtime.scope'
local compiled = require 'bridge.runtime.compiled'

local references = {}

local DEPTH = 3 -- how far into the tables of a package

-- Is this a Lua function of ours? Those that we generate have names of ours instead of a file's.
local function ours(f)
   local info = debug.getinfo(f, 'S')
   local source = info.source
   return info.what ~= 'C' and (source == '=?' or source:find('^=torch%.') ~= nil
      or source:sub(1, 1) == '@' and scope.ours(source:sub(2)))
end

local names   -- function or table -> its name
local modules -- how many packages there were when the names were collected

local function plain(key)
   return type(key) == 'string' and key:find('^[%w_.%-]+$') ~= nil
end

local function enter(object, name)
   local known = names[object]
   if not known or #name < #known then
      names[object] = name
   end
end

local function collect(object, name, depth)
   for key, value in next, object do
      if plain(key) then
         local inner = name .. ':' .. key
         if type(value) == 'function' and ours(value) then
            enter(value, inner)
         elseif type(value) == 'table' and depth < DEPTH and getmetatable(value) == nil and not names[value] then
            collect(value, inner, depth + 1)
         end
      end
   end
end

local function isours(metatable)
   for _, value in next, metatable do
      if type(value) == 'function' and ours(value) then
         return true
      end
   end
   return false
end

local function collectall()
   names, modules = {}, scope.count
   for name in pairs(scope.modules) do
      local module = package.loaded[name]
      if type(module) == 'table' and plain(name) then
         enter(module, 'module:' .. name)
         collect(module, 'module:' .. name, 1)
      elseif type(module) == 'function' then
         enter(module, 'module:' .. name)
      end
   end
   for name, metatable in pairs(class.classes) do
      if plain(name) and isours(metatable) then
         enter(metatable, 'class:' .. name)
         collect(metatable, 'class:' .. name, DEPTH)
         local constructor = class.constructor(metatable)
         if constructor then
            enter(constructor, 'constructor:' .. name)
         end
      end
   end
end

local finders = {}

function finders.module(name)
   return package.loaded[name] or compiled.find(name) and require(name) or nil
end

function finders.class(name)
   if not class.classes[name] then
      finders.module(name:match('^[^.]+'))
   end
   return class.classes[name]
end

function finders.constructor(name)
   return class.constructor(finders.class(name))
end

local function lookup(name)
   local kind, first, rest = name:match('^(%l+):([^:]+)(.*)$')
   local object = finders[kind] and finders[kind](first)
   for key in (rest or ''):gmatch('[^:]+') do
      object = type(object) == 'table' and rawget(object, key) or nil
   end
   return object
end

-- The name of one of our functions, packages or classes; nil for anything else, and for what a program has replaced.
function references.name(object)
   if type(object) == 'function' and not ours(object) then
      return nil
   elseif modules ~= scope.count then
      collectall()
   end
   local name = names[object]
   return name and rawequal(lookup(name), object) and name or nil
end

-- What a name stands for; nil if there is no such thing of ours.
function references.find(name)
   local object = lookup(name)
   return object ~= nil and references.name(object) and object or nil
end

-- The code of a function that looks the name up and calls what is there.
function references.code(name)
   local kind, first, rest = name:match('^(%l+):([^:]+)(.*)$')
   local way = {string.format(kind == 'module' and 'require(%q)' or 'torch.getmetatable(%q)', first)}
   for key in rest:gmatch('[^:]+') do
      way[#way + 1] = string.format('[%q]', key)
   end
   return string.dump(assert(loadstring('return ' .. table.concat(way) .. '(...)', '=(own ' .. name .. ')')))
end

-- Our function that a piece of bytecode stands for; nil for other code.
function references.function_(code)
   local name = code:sub(1, 400):match('^\27LJ[^=]*=%(own ([%w_.:%-]+)%)')
   local object = name and references.find(name)
   return type(object) == 'function' and object or nil
end

return references
