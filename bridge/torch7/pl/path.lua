-- Names of files, and what they name.
local lfs = require 'lfs'
local utils = require 'pl.utils'

local path = {sep = '/', dirsep = ':', is_windows = false}

path.attrib, path.link_attrib, path.dir = lfs.attributes, lfs.symlinkattributes, lfs.dir
path.mkdir, path.rmdir, path.chdir, path.currentdir = lfs.mkdir, lfs.rmdir, lfs.chdir, lfs.currentdir

local text = utils.assert_string

local function attribute(name)
   return function(where)
      text(1, where)
      return lfs.attributes(where, name)
   end
end

path.getsize, path.getatime = attribute('size'), attribute('access')
path.getmtime, path.getctime = attribute('modification'), attribute('change')

function path.isdir(where)
   return lfs.attributes(text(1, where), 'mode') == 'directory'
end

function path.isfile(where)
   return lfs.attributes(text(1, where), 'mode') == 'file'
end

function path.islink(where)
   return lfs.symlinkattributes(text(1, where), 'mode') == 'link'
end

-- The path itself if there is something, else false.
function path.exists(where)
   return lfs.attributes(text(1, where), 'mode') ~= nil and where
end

function path.isabs(where)
   return text(1, where):sub(1, 1) == '/'
end

-- ---- taking apart and putting together

-- The directory and the name: '/a/b.c' is '/a' and 'b.c'.
function path.splitpath(where)
   local directory, name = text(1, where):match('^(.*)/([^/]*)$')
   if not directory then
      return '', where
   end
   return directory, name
end

-- The path without its extension, and that with its dot.
function path.splitext(where)
   local root, extension = text(1, where):match('^(.*[^/])(%.[^./]*)$')
   if not root then
      root, extension = where:match('^(.*)(%.[^./]*)$')
   end
   return root or where, extension or ''
end

function path.dirname(where)
   return (path.splitpath(where))
end

function path.basename(where)
   return (select(2, path.splitpath(where)))
end

function path.extension(where)
   return (select(2, path.splitext(where)))
end

-- One path of several; what comes before an absolute one is dropped.
function path.join(first, second, ...)
   text(1, first)
   text(2, second)
   if select('#', ...) > 0 then
      return path.join(path.join(first, second), ...)
   elseif path.isabs(second) then
      return second
   elseif first ~= '' and first:sub(-1) ~= '/' then
      first = first .. '/'
   end
   return first .. second
end

function path.normcase(where)
   return text(1, where)
end

-- 'a//b/../c/.' is 'a/c'.
function path.normpath(where)
   text(1, where)
   local anchor = where:match('^//[^/]') and '//' or where:match('^/') or ''
   local parts = {}
   for part in where:gmatch('[^/]+') do
      if part == '..' and #parts > 0 and parts[#parts] ~= '..' then
         parts[#parts] = nil
      elseif part ~= '.' and not (part == '..' and anchor ~= '') then
         parts[#parts + 1] = part
      end
   end
   local normal = anchor .. table.concat(parts, '/')
   return normal == '' and '.' or normal
end

-- The absolute path, from `from` (the working directory).
function path.abspath(where, from)
   text(1, where)
   where = where:gsub('(.)/$', '%1')
   if not path.isabs(where) then
      where = path.join(from or lfs.currentdir(), where)
   end
   return path.normpath(where)
end

-- A path as it is seen from `from` (the working directory).
function path.relpath(where, from)
   text(1, where)
   from = path.abspath(from or lfs.currentdir())
   local target = utils.split(path.abspath(where, from), '/')
   local base = utils.split(from, '/')
   local same = 0
   while same < #target and same < #base and target[same + 1] == base[same + 1] do
      same = same + 1
   end
   local parts = {}
   for _ = same + 1, #base do
      parts[#parts + 1] = '..'
   end
   for i = same + 1, #target do
      parts[#parts + 1] = target[i]
   end
   return table.concat(parts, '/')
end

-- '~' is the home directory.
function path.expanduser(where)
   text(1, where)
   if where:sub(1, 1) ~= '~' then
      return where
   end
   local home = os.getenv('HOME')
   if not home then
      return nil, "failed to expand '~' (HOME not set)"
   end
   return home .. where:sub(2)
end

function path.common_prefix(first, second)
   text(1, first)
   text(2, second)
   if #first > #second then
      first, second = second, first
   end
   local i = 1
   while i <= #first and first:byte(i) == second:byte(i) do
      i = i + 1
   end
   if i > #first and (#first == #second or second:sub(i, i) == '/' ) then
      return path.isfile(first) and path.dirname(first) or first
   end
   return (first:sub(1, i - 1):match('^(.*)/') or '')
end

-- The file of a module, and whether it is Lua's; nil and what was tried.
function path.package_path(name)
   text(1, name)
   local file, tried = package.searchpath(name, package.path)
   if file then
      return file, true
   end
   local library, others = package.searchpath(name, package.cpath)
   if library then
      return library, false
   end
   return utils.raise('cannot find module on path\n' .. tostring(tried) .. tostring(others))
end

function path.tmpname()
   return os.tmpname()
end

return path
