-- The environment of the runtime's own files. Programs name global variables `type`, `next`, `table` or `image`, so our
-- files see the standard functions as they were before any program ran, and the tables of our packages. Everything else
-- is read from the program's globals, also print and require, which programs replace on purpose. Every global that our
-- files set is set for the program too.
--
-- The standard tables themselves are kept, not copies: what a program adds to `string` or replaces in `os` is seen
-- here.
local roots = ... -- the directories of our files, each with a slash at its end

local rawset, type, globals = rawset, type, _G

local environment = setmetatable({}, {__index = globals, __newindex = function(self, name, value)
   if type(value) == 'table' then
      rawset(self, name, value)
   end
   globals[name] = value
end})

-- `modules`: the names of our modules that were loaded; `count`: how many.
local scope = {environment = environment, modules = {}, count = 0}

-- Note that a module of ours is being loaded.
function scope.enter(name)
   if not scope.modules[name] then
      scope.modules[name] = true
      scope.count = scope.count + 1
   end
end

local standard = {
   '_G', '_VERSION', 'assert', 'bit', 'bit32', 'collectgarbage', 'coroutine', 'debug', 'dofile', 'error', 'gcinfo',
   'getfenv', 'getmetatable', 'io', 'ipairs', 'jit', 'load', 'loadfile', 'loadstring', 'math', 'module', 'newproxy',
   'next', 'os', 'package', 'pairs', 'pcall', 'rawequal', 'rawget', 'rawlen', 'rawset', 'select', 'setfenv',
   'setmetatable', 'string', 'table', 'tonumber', 'tostring', 'type', 'unpack', 'xpcall',
}

-- Keep the present values of the standard names. Called after the language is installed and before a program runs.
function scope.capture()
   for _, name in ipairs(standard) do
      rawset(environment, name, _G[name])
   end
end

-- Count the files below this directory as ours from now on.
function scope.adopt(directory)
   roots[#roots + 1] = directory .. '/'
end

-- Is this one of our files?
function scope.ours(filename)
   for _, root in ipairs(roots) do
      if string.sub(filename, 1, #root) == root then
         return true
      end
   end
   return false
end

-- A searcher for package.loaders, used for our own files until language.lua installs one that rewrites source.
function scope.searcher(compiled)
   return function(name)
      local filename, stamp = compiled.find(name)
      return filename and setfenv(assert(compiled.file('plain', filename, loadfile, stamp)), environment)
   end
end

setfenv(scope.capture, environment)
setfenv(scope.ours, environment)
setfenv(scope.searcher, environment)

return scope
