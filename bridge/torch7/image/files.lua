-- Pictures in files and in memory: PNG, JPEG, PPM and PGM.
local calls = require 'image.calls'

local formats = {png = require 'image.png', jpg = require 'image.jpeg', ppm = require 'image.pnm'}
local MAGIC = {jpg = '\255\216\255', png = '\137\80\78\71'}
local types = {byte = 'torch.ByteTensor', float = 'torch.FloatTensor', double = 'torch.DoubleTensor'}

-- What is in a file, found by how it begins; nil where that says nothing.
local function kind(head)
   for name, magic in pairs(MAGIC) do
      if head:sub(1, #magic) == magic then
         return name
      end
   end
   return head:match('^P[25]') and 'pgm' or head:match('^P[36]') and 'ppm' or nil
end

local function begin(filename)
   local file, message = io.open(filename, 'rb')
   if not file then
      error(message, 0)
   end
   local head = file:read(4) or ''
   file:close()
   return head
end

local function extension(filename)
   return tostring(filename):match('%.(%a+)$')
end

-- One channel or three, as asked for. One channel of a coloured picture has no dimension for it.
local function todepth(image, picture, depth)
   local channels = picture:size(1)
   if depth == 1 and channels >= 3 then
      return image.rgb2y(picture:narrow(1, 1, 3))[1]
   elseif depth == 1 and channels == 2 then
      return picture:narrow(1, 1, 1)
   elseif depth == 3 and channels > 3 then
      return picture:narrow(1, 1, 3)
   elseif depth == 3 and channels == 2 then
      calls.fail('image loaded has wrong #channels', 'todepth')
   elseif depth == 3 and channels == 1 then
      return picture:expand(3, picture:size(2), picture:size(3)):clone()
   end
   return picture
end

-- The type that `tensortype` names.
local function typename(tensortype)
   if tensortype and not types[tensortype] then
      error('type of an image is byte, float or double, got ' .. tostring(tensortype), 4)
   end
   return tensortype and types[tensortype] or torch.getdefaulttensortype()
end

-- The types whose memory the readers of files write into.
local direct = {}
for _, name in pairs(types) do
   direct[name] = true
end

-- A file's content; without one, `message` with its name.
local function content(filename, message)
   local file = io.open(filename, 'rb')
   local read = file and file:read('*a')
   if file then
      file:close()
   end
   if not read then -- a directory opens, but cannot be read
      error(message:format(filename), 0)
   end
   return read
end

-- A picture of a file's content; no filename: it was in memory.
local function read(image, format, source, depth, tensortype, filename)
   local wanted = typename(tensortype)
   local example = torch.getmetatable(direct[wanted] and wanted or 'torch.DoubleTensor').new()
   local picture, most = format.load(source, example, filename)
   picture = tensortype == 'byte' and picture or picture:mul(1 / most)
   return todepth(image, direct[wanted] and picture or picture:type(wanted), depth)
end

-- A file's content, of numbers from 0 to 1, which become 0 to 255 and are cut off as the original's C does, or bytes.
local function written(format, tensor, quality)
   local dims = tensor:dim()
   format.check(dims, dims == 3 and tensor:size(1) or dims == 2 and 1 or 0)
   if tensor:type() ~= 'torch.ByteTensor' then
      tensor = torch.Tensor():resize(tensor:size()):copy(tensor):clamp(0, 1):mul(255):byte()
   end
   return format.content(tensor, quality)
end

local function save(format, filename, tensor)
   calls.tensor(tensor, 'save' .. format.suffix)
   local made = written(format, tensor)
   local file = io.open(filename, 'wb')
   if not file then
      error(format.unwritable:format(filename), 0)
   end
   local ok, why = file:write(made)
   file:close()
   if not ok then
      error(why, 0)
   end
end

local function compressed(tensor, what, name)
   if torch.typename(tensor) ~= 'torch.ByteTensor' then
      calls.fail('Input tensor ' .. what .. 'must be a byte tensor', name)
   end
   return calls.bytes(tensor)
end

return function(image)
   for name, format in pairs(formats) do
      local suffix = format.suffix

      image['load' .. suffix] = function(filename, depth, tensortype)
         return read(image, format, content(filename, format.missing), depth, tensortype, filename)
      end

      -- Channels, height, width.
      image['get' .. suffix .. 'size'] = function(filename)
         return format.size(content(filename, format.nosize), filename)
      end

      if name ~= 'ppm' then
         image['save' .. suffix] = function(filename, tensor)
            save(format, filename, tensor)
         end

         image['compress' .. suffix] = function(tensor, quality)
            calls.tensor(tensor, 'compress' .. suffix)
            return torch.ByteTensor(torch.ByteStorage():string(written(format, tensor, quality)))
         end

         image['decompress' .. suffix] = function(tensor, depth, tensortype)
            local what = name == 'jpg' and '(with compressed jpeg) ' or '(with compressed png) '
            local held = compressed(tensor, what, 'decompress' .. suffix)
            return read(image, format, held, depth, tensortype)
         end
      end
   end

   function image.savePPM(filename, tensor)
      if not torch.isTensor(tensor) or tensor:nDimension() ~= 3 or tensor:size(1) ~= 3 then
         calls.fail('can only save 3xHxW images as PPM', 'savePPM')
      end
      save(formats.ppm, filename, tensor)
   end

   function image.savePGM(filename, tensor)
      local dims = torch.isTensor(tensor) and tensor:nDimension()
      if dims ~= 2 and not (dims == 3 and tensor:size(1) == 1) then
         calls.fail('can only save 1xHxW or HxW images as PGM', 'savePGM')
      end
      save(formats.ppm, filename, tensor)
   end

   function image.decompress(tensor, depth, tensortype)
      local found = kind(compressed(tensor, '', 'decompress'))
      if found ~= 'jpg' and found ~= 'png' then
         calls.fail('Input must be either jpg or png format', 'decompress')
      end
      return image['decompress' .. formats[found].suffix](tensor, depth, tensortype)
   end

   local filetypes = {
      jpg = {loader = image.loadJPG, saver = image.saveJPG, sizer = image.getJPGsize},
      png = {loader = image.loadPNG, saver = image.savePNG, sizer = image.getPNGsize},
      ppm = {loader = image.loadPPM, saver = image.savePPM, sizer = image.getPPMsize},
      pgm = {loader = image.loadPPM, saver = image.savePGM, sizer = image.getPPMsize},
   }
   filetypes.jpeg, filetypes.JPEG, filetypes.JPG = filetypes.jpg, filetypes.jpg, filetypes.jpg
   filetypes.PNG, filetypes.PPM, filetypes.PGM = filetypes.png, filetypes.ppm, filetypes.pgm
   image.supported_filetypes = filetypes

   function image.is_supported(suffix)
      return suffix ~= nil and filetypes[suffix] ~= nil
   end

   -- The functions for a file, by what it begins with or by its name.
   local function handler(filename, name)
      local suffix = kind(begin(filename)) or extension(filename)
      if not image.is_supported(suffix) then
         calls.fail('unknown image type: ' .. tostring(suffix), name)
      end
      return filetypes[suffix]
   end

   function image.load(filename, depth, tensortype)
      if not filename then
         calls.usage('load', 'loads an image into a torch.Tensor', {{
            {type = 'string', help = 'path to file', req = true},
            {type = 'number', help = 'force destination depth: 1 | 3'},
            {type = 'string', help = 'type: byte | float | double'}}}, 'missing file name')
      end
      return handler(filename, 'load').loader(filename, depth, tensortype)
   end

   function image.save(filename, tensor)
      if not filename or not tensor then
         calls.usage('save', 'saves a torch.Tensor to a disk', {{
            {type = 'string', help = 'path to file', req = true},
            {type = 'torch.Tensor', help = 'tensor to save (NxHxW, N = 1 | 3)'}}}, 'missing file name | tensor to save')
      end
      local suffix = extension(filename)
      if not image.is_supported(suffix) then
         calls.fail('unknown image type: ' .. tostring(suffix), 'save')
      end
      filetypes[suffix].saver(filename, tensor)
   end

   -- Channels, height and width of a file's picture, without reading its pixels.
   function image.getSize(filename)
      if not filename then
         calls.usage('getSize', 'the size of an image', {{{type = 'string', help = 'path to file', req = true}}},
            'missing file name')
      end
      return torch.LongStorage{handler(filename, 'getSize').sizer(filename)}
   end
end
