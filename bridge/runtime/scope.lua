-- The environment of the runtime's own files: the standard functions as they were before any program ran, and the
-- tables of our packages, since programs name their variables `type`, `next`, `table`, `image`... Everything else
-- (print and require among it, which programs replace on purpose) is read from the program's globals, and every
-- global that our files write is the program's too.
--
-- The standard tables are captured, not copied: what a program adds to `string` or replaces in `os` is seen here too.
local roots = ... -- the directories of our files, each with a slash behind it

local rawset, type, globals = rawset, type, _G

local environment = setmetatable({}, {__index = globals, __newindex = function(self, name, value)
   if type(value) == 'table' then
      rawset(self, name, value)
   end
   globals[name] = value
end})

-- `modules`: the names of our packages that were loaded, `count` of them.
local scope = {environment = environment, modules = {}, count = 0}

-- A package of ours has been found under this name.
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

-- Keep what the standard names mean now: once the language is in place, before a program runs.
function scope.capture()
   for _, name in ipairs(standard) do
      rawset(environment, name, _G[name])
   end
end

-- From now on the files below this directory are ours too.
function scope.adopt(directory)
   roots[#roots + 1] = directory .. '/'
end

-- Is this the name of one of our files?
function scope.ours(filename)
   for _, root in ipairs(roots) do
      if string.sub(filename, 1, #root) == root then
         return true
      end
   end
   return false
end

-- A searcher of package.loaders for files that are all ours, before source is compiled by other rules.
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
