-- Pictures in files and in memory: PNG, JPEG, PPM and PGM.
local native = require 'bridge.native'
local calls = require 'image.calls'

local MAGIC = {jpg = '\255\216\255', png = '\137\80\78\71'}
local types = {byte = 'torch.ByteTensor', float = 'torch.FloatTensor', double = 'torch.DoubleTensor'}

local function python(name, ...)
   if not native.python then
      error("image files are read by Python's Pillow, which this state has no way to", 3)
   end
   return native.python('image.' .. name, ...)
end

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
   elseif depth == 3 and channels < 3 then
      return picture:narrow(1, 1, 1):expand(3, picture:size(2), picture:size(3)):clone()
   end
   return picture
end

-- A picture of a path, or of a ByteTensor with a file's bytes; nil and a message if it is none.
local function read(image, where, format, depth, tensortype)
   local wanted = tensortype and types[tensortype] or torch.getdefaulttensortype()
   if tensortype and not types[tensortype] then
      error('type of an image is byte, float or double, got ' .. tostring(tensortype), 3)
   end
   local pixels, most = python('decode', where, format)
   if not pixels then
      return nil, most
   end
   local picture
   if tensortype == 'byte' then
      picture = (most > 255 and pixels:div(257) or pixels):byte()
   else
      picture = pixels:type(wanted):mul(1 / most)
   end
   return todepth(image, picture, depth)
end

-- Bytes of a picture for a file: numbers from 0 to 1 become 0 to 255, cut off as the original's C does. The small
-- summand keeps k/255, which may come out just below k.
local function bytes(tensor, name)
   calls.tensor(tensor, name)
   local dims = tensor:dim()
   local channels = dims == 3 and tensor:size(1) or 1
   if dims ~= 2 and dims ~= 3 or channels > 4 or name:find('JPG') and channels ~= 1 and channels ~= 3 then
      calls.fail(string.format('cannot write an image of size %s: HxW or %s is needed',
         table.concat(tensor:size():totable(), 'x'), name:find('JPG') and '1xHxW or 3xHxW' or '1 to 4 x HxW'), name)
   end
   if tensor:type() == 'torch.ByteTensor' then
      return tensor
   end
   return tensor:double():clone():clamp(0, 1):mul(255):add(1e-3):byte()
end

local function encode(tensor, format, quality, name)
   quality = quality or 75
   if type(quality) ~= 'number' or not (quality >= 0 and quality <= 100) then
      error(string.format("bad argument #2 to '%s' (quality should be between 0 and 100)", name), 3)
   end
   local content, message = python('encode', bytes(tensor, name), format, math.floor(quality))
   if not content then
      calls.fail(message, name)
   end
   return content
end

local function write(filename, content)
   local file, message = io.open(filename, 'wb')
   if not file then
      error(message, 0)
   end
   local ok, why = file:write(content:storage():string())
   file:close()
   if not ok then
      error(why, 0)
   end
end

return function(image)
   for _, form in ipairs{{'PNG', 'png'}, {'JPG', 'jpg'}, {'PPM', 'ppm'}} do
      local suffix, format = unpack(form)

      image['load' .. suffix] = function(filename, depth, tensortype)
         begin(filename)
         local picture, message = read(image, filename, format, depth, tensortype)
         if not picture then
            calls.fail(filename .. ': ' .. message, 'load' .. suffix)
         end
         return picture
      end

      -- Channels, height, width.
      image['get' .. suffix .. 'size'] = function(filename)
         begin(filename)
         local channels, height, width = python('size', filename, format)
         if not channels then
            calls.fail(filename .. ': ' .. height, 'get' .. suffix .. 'size')
         end
         return channels, height, width
      end

      if format ~= 'ppm' then
         image['save' .. suffix] = function(filename, tensor)
            write(filename, encode(tensor, format, nil, 'save' .. suffix))
         end

         image['compress' .. suffix] = function(tensor, quality)
            return encode(tensor, format, quality, 'compress' .. suffix)
         end

         -- A ByteTensor with a file's bytes; a damaged JPEG gives nil, as it did.
         image['decompress' .. suffix] = function(tensor, depth, tensortype)
            if torch.typename(tensor) ~= 'torch.ByteTensor' then
               calls.fail('Input tensor (with compressed ' .. format .. ') must be a byte tensor',
                  'decompress' .. suffix)
            end
            local picture, message = read(image, tensor, format, depth, tensortype)
            if not picture and format == 'png' then
               calls.fail(message, 'decompressPNG')
            end
            return picture
         end
      end
   end

   function image.savePPM(filename, tensor)
      if not torch.isTensor(tensor) or tensor:nDimension() ~= 3 or tensor:size(1) ~= 3 then
         calls.fail('can only save 3xHxW images as PPM', 'savePPM')
      end
      write(filename, encode(tensor, 'ppm', nil, 'savePPM'))
   end

   function image.savePGM(filename, tensor)
      local dims = torch.isTensor(tensor) and tensor:nDimension()
      if dims ~= 2 and not (dims == 3 and tensor:size(1) == 1) then
         calls.fail('can only save 1xHxW or HxW images as PGM', 'savePGM')
      end
      write(filename, encode(tensor, 'ppm', nil, 'savePGM'))
   end

   function image.decompress(tensor, depth, tensortype)
      if torch.typename(tensor) ~= 'torch.ByteTensor' then
         calls.fail('Input tensor must be a byte tensor', 'decompress')
      end
      local head = {}
      for i = 1, math.min(tensor:nElement(), 4) do
         head[i] = string.char(tensor:view(-1)[i])
      end
      local found = #head == 4 and kind(table.concat(head))
      if found ~= 'jpg' and found ~= 'png' then
         calls.fail('Input must be either jpg or png format', 'decompress')
      end
      return image['decompress' .. found:upper()](tensor, depth, tensortype)
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
