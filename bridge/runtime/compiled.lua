-- Byte code of our own files, and of functions that they generate, shared by all states of the process
-- (bridge/core/lua/code.h). The first state compiles them; loading byte code takes the others a tenth of the time.
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

-- Call f without LuaJIT's just-in-time compiler: for code that runs once it costs more than it saves.
function compiled.interpreted(f, ...)
   if not jit.status() then
      return f(...)
   end
   jit.off()
   return on(pcall(f, ...))
end

-- The function kept under `key`; if there is none, the one that `compile(...)` returns, which is then kept.
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

-- stamp(filename): a string that changes with the file, for keys of functions that depend on its contents; nil if there
-- is no such file.
compiled.stamp = native.filestamp

-- The chunk that `compile(filename)` makes of a file of ours, kept or new. `rules` names the way of compiling.
function compiled.file(rules, filename, compile, stamp)
   stamp = stamp or native.filestamp(filename)
   if not stamp then
      return compile(filename)
   end
   return compiled.get(rules .. stamp .. filename, compile, filename)
end

local templates, path = {}, nil -- for `path`, a package.path: the parts before and after each `?`

local packages = {bridge = root} -- name of a package of ours -> its directory

-- The file of a module in one of those directories, and its stamp.
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

-- A Lua package can be installed where Python packages are. Find a module there: its file and stamp. From then on all
-- files of that package count as ours.
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

-- The file that `require` finds for a module, and its stamp, if that is one of ours; else nil.
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
