-- How a dataset is stored: in chunks, compressed.
local DataSetOptions = torch.class('hdf5.DataSetOptions')

function DataSetOptions:setChunked(...)
   self._chunking = {...}
   return self
end

-- Compress by a level from 0 to 9 (6). What is compressed is stored in chunks.
function DataSetOptions:setDeflate(level)
   level = level or 6
   if type(level) ~= 'number' or level < 0 or level > 9 then
      error('hdf5.DataSetOptions: a level of compression is from 0 to 9, got ' .. tostring(level), 2)
   end
   self._deflate = level
   return self
end

function DataSetOptions:__tostring()
   return string.format('[DataSetOptions: chunking=%s deflate=%s]',
      self._chunking and table.concat(self._chunking, 'x') or 'none', self._deflate or 'none')
end
