-- Files that find themselves and their neighbours.

-- The absolute name of the file whose code runs at a level of the stack; nil outside of files.
local function fileat(paths, level)
   local info = debug.getinfo(level + 1, 'S')
   local source = info and info.source
   return source and source:sub(1, 1) == '@' and paths.concat(source:sub(2)) or nil
end

return function(paths)
   -- The file that calls this (or its caller's, `depth` 3, and so on), or the name of a file beside it.
   function paths.thisfile(name, depth)
      local file = fileat(paths, depth or 2)
      if type(name) ~= 'string' then
         return file
      end
      return file and paths.concat(paths.dirname(file), name) or name
   end

   -- Run a file; a relative name is looked up beside the calling file. (A caller that returns what this gives, as a
   -- tail call, cannot be seen: a file that is not there is then taken from the working directory.)
   function paths.dofile(name, depth)
      local file = fileat(paths, depth or 2)
      local beside = file and paths.concat(paths.dirname(file), name) or name
      return dofile((paths.filep(beside) or not paths.filep(name)) and beside or name)
   end

   -- Load a module written in C with its symbols visible to others; here that is what `require` does, too.
   function paths.require(name)
      return require(name)
   end
end
