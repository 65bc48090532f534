-- Our own files, and functions that they generate, as bytecode that all states of the process share
-- (bridge/core/lua/code.h): the first state compiles, the others load, which takes a tenth of the time.
local native, scope, root, python_package = ...
local jit, package, error, ipairs, pcall = jit, package, error, ipairs, pcall
local dump, gmatch, gsub, match = string.dump, string.gmatch, string.gsub, string.match

local compiled = {}

local function on(ok, ...)
   jit.on()
   if not ok then
      error((...), 0)
   end
   return ...
end

-- Call f without LuaJIT's own compiler, whose code for what runs once costs more than it gains.
function compiled.interpreted(f, ...)
   if not jit.status() then
      return f(...)
   end
   jit.off()
   return on(pcall(f, ...))
end

-- The function that is kept under `key`, or the one that `compile(...)` makes, which is kept then.
function compiled.get(key, compile, ...)
   local chunk, message = native.code(key)
   if not chunk then
      chunk, message = compiled.interpreted(compile, ...)
      if chunk then
         native.keepcode(key, dump(chunk))
      end
   end
   return chunk, message
end

-- What a key has to begin with if the function depends on what stands in this file now; nil if there is none.
compiled.stamp = native.filestamp

-- The chunk of a file of ours as `compile(filename)` makes it; `rules` says which way of compiling that is.
function compiled.file(rules, filename, compile, stamp)
   stamp = stamp or native.filestamp(filename)
   if not stamp then
      return compile(filename)
   end
   return compiled.get(rules .. stamp .. filename, compile, filename)
end

local templates, path = {}, nil -- of package.path: what stands before and behind each place of the name

local packages = {bridge = root} -- the directories of packages that Python finds

-- The file of a module in one of them, and its stamp.
local function inside(name)
   local top, rest = match(name, '^([^.]*)(.*)$')
   local place = packages[top] and packages[top] .. gsub(rest, '%.', '/')
   for _, ending in ipairs(place and {'.lua', '/init.lua'} or {}) do
      local stamp = native.filestamp(place .. ending)
      if stamp then
         return place .. ending, stamp
      end
   end
end

-- A Lua package may be installed as Python's are: the file of a module that lies there, and its stamp. The files of
-- that package are ours from then on.
function compiled.installed(name)
   local top = match(name .. '.', '^([%w_]+)%.')
   if not top or packages[top] then
      return inside(name)
   end
   for _, directory in ipairs(python_package(top)) do
      packages[top] = directory
      local filename, stamp = inside(name)
      if filename then
         scope.adopt(directory)
         return filename, stamp
      end
   end
   packages[top] = nil
end

-- The file of ours that `require` takes for a module, and its stamp; nil if it takes another, or there may be one.
function compiled.find(name)
   local installed, when = inside(name)
   if installed then
      return installed, when
   end
   if path ~= package.path then
      path, templates = package.path, {}
      for template in gmatch(path, '[^;]+') do
         templates[#templates + 1] = {match(template, '^([^?]*)%?([^?]*)$')}
      end
   end
   local inner = gsub(name, '%.', '/')
   for i = 1, #templates do
      local before, behind = templates[i][1], templates[i][2]
      if not before then
         return nil
      end
      local filename = before .. inner .. behind
      local stamp = native.filestamp(filename)
      if stamp then
         if scope.ours(filename) then
            return filename, stamp
         end
         return nil
      end
   end
end

return compiled
