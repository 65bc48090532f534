-- What is on the disk: telling files from directories, listing, making and removing them.
local posix = require 'paths.posix'
local text = require('paths.arguments').text

local function install(paths)
   function paths.filep(path)
      local kind = posix.kind(text(1, 'filep', path, true))
      return kind ~= nil and kind ~= 'directory'
   end

   function paths.dirp(path)
      return posix.kind(text(1, 'dirp', path, true)) == 'directory'
   end

   -- The names in a directory, '.' and '..' too; nil if it cannot be read.
   function paths.dir(path)
      return (posix.names(text(1, 'dir', path, true)))
   end

   -- An iterator over the names in a directory that a pattern finds or a function accepts.
   function paths.files(path, accept)
      local names = paths.dir(text(1, 'files', path, true)) or {}
      if type(accept) == 'string' then
         local pattern = accept
         accept = function(name) return name:find(pattern) end
      elseif accept and type(accept) ~= 'function' then
         error('Expecting optional arg 2 to be function or string. Got : ' .. type(accept), 2)
      end
      local i = 0
      return function()
         repeat
            i = i + 1
         until names[i] == nil or not accept or accept(names[i])
         return names[i]
      end
   end

   local function iterate(path, holds)
      return paths.files(path, function(name)
         return name ~= '.' and name ~= '..' and holds(paths.concat(path, name))
      end)
   end

   function paths.iterdirs(path)
      return iterate(text(1, 'iterdirs', path, true), paths.dirp)
   end

   function paths.iterfiles(path)
      return iterate(text(1, 'iterfiles', path, true), paths.filep)
   end

   -- Make a directory and those above it. True; or nil, a message and a number, also when it is there already.
   function paths.mkdir(path)
      local above = paths.dirname(text(1, 'mkdir', path, true))
      if above ~= path and not paths.dirp(above) then
         paths.mkdir(above)
      end
      return posix.outcome(posix.C.mkdir(path, 511), path)
   end

   function paths.rmdir(path)
      return posix.outcome(posix.C.rmdir(text(1, 'rmdir', path, true)), path)
   end

   -- Remove a file, or a directory with all that is in it; a link goes, what it leads to stays.
   function paths.rmall(path, confirmed)
      if confirmed ~= 'yes' then
         return nil, "missing second argument ('yes')"
      end
      local kind = posix.kind(text(1, 'rmall', path, true), true)
      if not kind then
         return nil, 'not a file or directory', path
      elseif kind ~= 'directory' then
         return os.remove(path)
      end
      for name in paths.files(path) do
         if name ~= '.' and name ~= '..' then
            local inner = paths.concat(path, name)
            local ok, message = paths.rmall(inner, confirmed)
            if not ok then
               return ok, message, inner
            end
         end
      end
      return paths.rmdir(path)
   end
end

return install
