-- The channels of a picture by their letters: R, G, B, A (opaque is 1), I (intensity), and C, M, Y (what R, G, B lack).
local types = {byte = 'torch.ByteTensor', float = 'torch.FloatTensor', double = 'torch.DoubleTensor'}
local LUMA = {0.299, 0.587, 0.114}
local COLOUR = {R = 1, G = 2, B = 3, C = 1, M = 2, Y = 3}

local channels = {}

local function fail(...)
   error('magick.Image: ' .. string.format(...), 4)
end

local function colour(picture, i)
   return picture:select(3, picture:size(3) >= 3 and i or 1):double()
end

local function channel(picture, letter)
   local depth = picture:size(3)
   if letter == 'A' then
      local alpha = depth % 2 == 0 and picture:select(3, depth):double()
      return alpha or torch.DoubleTensor(picture:size(1), picture:size(2)):fill(255)
   elseif letter == 'I' then
      if depth < 3 then
         return colour(picture, 1)
      end
      local sum = colour(picture, 1):mul(LUMA[1])
      return sum:add(LUMA[2], colour(picture, 2)):add(LUMA[3], colour(picture, 3)):add(0.5):floor()
   elseif COLOUR[letter] then
      local values = colour(picture, COLOUR[letter])
      return letter:find('[CMY]') and values:mul(-1):add(255) or values
   end
   fail("no channel '%s'; there are R, G, B, A, I, C, M and Y, and image.rgb2lab, rgb2hsl and rgb2yuv make others",
      letter)
end

local function ordered(dims)
   if dims ~= 'HWD' and dims ~= 'DHW' then
      fail("expected dimensions as 'HWD' or 'DHW', got '%s'", tostring(dims))
   end
   return dims == 'DHW'
end

-- A tensor of a picture.
function channels.export(picture, kind, letters, dims)
   local deep = ordered(dims)
   local height, width = picture:size(1), picture:size(2)
   local tensortype = types[kind]
      or fail("unknown data type %s; there are 'byte', 'float' and 'double'", tostring(kind))
   local planes = torch.DoubleTensor(#letters, height, width)
   for i = 1, #letters do
      planes[i]:copy(channel(picture, letters:sub(i, i)))
   end
   if kind ~= 'byte' then
      planes:div(255)
   end
   planes = planes:type(tensortype)
   return deep and planes or planes:permute(2, 3, 1):contiguous()
end

-- A picture of a tensor; its channels are found by how many there are unless their letters are given.
function channels.import(tensor, letters, dims)
   local deep = ordered(dims)
   if not torch.isTensor(tensor) or tensor:dim() ~= 3 then
      fail('expected a tensor of 3 dimensions, got %s', torch.isTensor(tensor) and tensor:dim() or torch.type(tensor))
   end
   local planes = deep and tensor or tensor:permute(3, 1, 2)
   local depth = planes:size(1)
   letters = letters or ({'I', nil, 'RGB', 'RGBA'})[depth]
   if not letters or #letters ~= depth then
      fail("%d channels do not go with '%s'", depth, tostring(letters))
   end
   local scaled = planes:double()
   if tensor:type() ~= types.byte then
      scaled = scaled:clone():clamp(0, 1):mul(255):add(0.5):floor()
   end
   local grey, alpha = not letters:find('[RGBCMY]'), letters:find('A')
   local picture = torch.ByteTensor(planes:size(2), planes:size(3), (grey and 1 or 3) + (alpha and 1 or 0)):zero()
   for i = 1, depth do
      local letter, plane = letters:sub(i, i), scaled[i]
      if letter == 'A' then
         picture:select(3, picture:size(3)):copy(plane)
      elseif letter == 'I' then
         for d = 1, grey and 1 or 3 do
            picture:select(3, d):copy(plane)
         end
      elseif COLOUR[letter] then
         picture:select(3, COLOUR[letter]):copy(letter:find('[CMY]') and (plane * -1):add(255) or plane)
      else
         channel(picture, letter)
      end
   end
   return picture
end

return channels
