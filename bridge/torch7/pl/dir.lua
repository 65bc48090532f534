-- Directories: listing, walking, copying and removing them.
local lfs = require 'lfs'
local List = require 'pl.List'
local path = require 'pl.path'
local utils = require 'pl.utils'

local dir = {}

-- A shell's pattern ('*.lua', 'a?') as one of Lua's.
local function pattern(mask)
   return '^' .. utils.escape(mask):gsub('%%%*', '.*'):gsub('%%%?', '.') .. '$'
end

function dir.fnmatch(name, mask)
   utils.assert_string(1, name)
   utils.assert_string(2, mask)
   return name:find(pattern(mask)) ~= nil
end

-- The names of a list whose last part fits.
function dir.filter(names, mask)
   utils.assert_arg(1, names, 'table')
   utils.assert_string(2, mask)
   local found = List()
   for _, name in ipairs(names) do
      if dir.fnmatch(path.basename(name), mask) then
         found:append(name)
      end
   end
   return found
end

-- What is a `kind` in a directory: full paths.
local function listed(where, kind, mask)
   local found = List()
   for name in lfs.dir(where) do
      local full = path.join(where, name)
      if name ~= '.' and name ~= '..' and path[kind](full) and (not mask or dir.fnmatch(name, mask)) then
         found:append(full)
      end
   end
   return found
end

local function directory(where)
   utils.assert_arg(1, where, 'string', path.isdir, 'not a directory', 4)
   return where
end

function dir.getfiles(where, mask)
   return listed(directory(where or '.'), 'isfile', mask)
end

function dir.getdirectories(where)
   return listed(directory(where or '.'), 'isdir')
end

-- ---- files

function dir.copyfile(source, target, keep)
   utils.assert_string(1, source)
   utils.assert_string(2, target)
   if path.isdir(target) then
      target = path.join(target, path.basename(source))
   end
   if keep and path.exists(target) then
      return false, target .. ' exists'
   end
   local text, message = utils.readfile(source, true)
   if not text then
      return false, message
   end
   local ok
   ok, message = utils.writefile(target, text, true)
   if ok then
      return true
   end
   return false, message
end

function dir.movefile(source, target)
   utils.assert_string(1, source)
   utils.assert_string(2, target)
   if path.isdir(target) then
      target = path.join(target, path.basename(source))
   end
   local ok, message = os.rename(source, target)
   if ok then
      return true
   end
   ok = dir.copyfile(source, target) -- another disk
   if ok then
      ok, message = os.remove(source)
   end
   if ok then
      return true
   end
   return false, message
end

-- ---- trees

-- An iterator over a tree: each directory with the lists of its directories' and files' names. Directories come before
-- what is in them, or after it if `bottomup`; links to directories are followed if asked.
function dir.walk(root, bottomup, follow)
   root = directory(root):gsub('(.)/$', '%1')
   local function visit(where)
      local directories, files = List(), List()
      for name in lfs.dir(where) do
         local full = path.join(where, name)
         if name ~= '.' and name ~= '..' then
            local into = path.isdir(full) and directories or files
            into:append(name)
         end
      end
      if not bottomup then
         coroutine.yield(where, directories, files)
      end
      for _, name in ipairs(directories) do
         local full = path.join(where, name)
         if follow or not path.islink(full) then
            visit(full)
         end
      end
      if bottomup then
         coroutine.yield(where, directories, files)
      end
   end
   return coroutine.wrap(function() visit(root) end)
end

-- Remove a tree; a link in it goes, what it leads to stays.
function dir.rmtree(where)
   directory(where)
   if path.islink(where) then
      return utils.raise('will not follow symlink')
   end
   for root, directories, files in dir.walk(where, true) do
      for _, names in ipairs{files, directories} do
         for _, name in ipairs(names) do
            local full = path.join(root, name)
            if names == files or path.islink(full) then
               local ok, message = os.remove(full)
               if not ok then
                  return utils.raise(message)
               end
            end
         end
      end
      local ok, message = lfs.rmdir(root)
      if not ok then
         return utils.raise(root .. ': ' .. message)
      end
   end
   return true
end

-- Make a directory and those above it.
function dir.makepath(where)
   utils.assert_string(1, where)
   where = path.abspath(where)
   if path.isdir(where) then
      return true
   end
   local ok, message = dir.makepath(path.dirname(where))
   if ok then
      ok, message = lfs.mkdir(where)
   end
   if not ok then
      return nil, message
   end
   return true
end

-- Copy a tree (with `copy`, or its directories alone): true, and the lists of directories and files that failed.
function dir.clonetree(source, target, copy, verbose)
   directory(source)
   utils.assert_string(2, target)
   source, target = path.abspath(source), path.abspath(target)
   if source == target then
      return utils.raise('paths are the same!')
   end
   local say = type(verbose) == 'function' and verbose or verbose and print or function() end
   local faileddirectories, failedfiles = List(), List()
   for root, _, files in dir.walk(source) do
      local relative = root:sub(#source + 2)
      local there = relative == '' and target or path.join(target, relative)
      if not path.isdir(there) and not dir.makepath(there) then
         faileddirectories:append(there)
      elseif copy then
         for _, name in ipairs(files) do
            say(path.join(there, name))
            if not copy(path.join(root, name), path.join(there, name)) then
               failedfiles:append(path.join(there, name))
            end
         end
      end
   end
   return true, faileddirectories, failedfiles
end

-- An iterator over everything in a tree: the path, and whether it is a directory.
function dir.dirtree(where)
   where = directory(where):gsub('(.)/$', '%1')
   local function visit(from)
      for name in lfs.dir(from) do
         if name ~= '.' and name ~= '..' then
            local full = path.join(from, name)
            local isdir = path.isdir(full)
            coroutine.yield(full, isdir)
            if isdir and not path.islink(full) then
               visit(full)
            end
         end
      end
   end
   return coroutine.wrap(function() visit(where) end)
end

function dir.getallfiles(where, mask)
   local found = List()
   for full, isdir in dir.dirtree(directory(where or '.')) do
      if not isdir and (not mask or dir.fnmatch(path.basename(full), mask)) then
         found:append(full)
      end
   end
   return found
end

return dir
