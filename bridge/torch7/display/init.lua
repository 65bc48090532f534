-- The display package: pictures, plots and texts for a display server, which shows them in a browser. Commands are JSON
-- that is posted to `url`. Without a server nothing is shown, and training goes on.
local native = require 'bridge.native'
local json = require 'cjson'
require 'image'

local display = {url = 'http://localhost:8000/events'}

-- configure{hostname=, port=}: where the server is.
function display.configure(config)
   display.url = string.format('http://%s:%s/events', config.hostname or '127.0.0.1', tostring(config.port or 8000))
end
display.server = display.configure

local panes = 0

local function pane()
   panes = panes + 1
   return string.format('pane_%d%06d%d', os.time(), panes, math.floor((os.clock() * 1e6) % 1e6))
end

local silent = {} -- servers that have been reported as silent

local function send(command)
   if not native.python then
      error('display: pictures are sent through Python, which this state has no way to', 3)
   end
   local url = display.url
   local problem = native.python('display.post', url, json.encode(command))
   if problem and not silent[url] then
      silent[url] = true
      io.stderr:write(string.format('display: nobody shows pictures at %s (%s); going on without\n', url, problem))
   end
   return command.id
end

-- A copy with numbers from 0 to 1.
local function normalized(img, opts)
   local min, max = opts.min or img:min(), opts.max or img:max()
   local copy = torch.FloatTensor(img:size()):copy(img):add(-min)
   return max > min and copy:mul(1 / (max - min)) or copy:zero()
end

-- Show a picture (HxW, or up to 3xHxW) in the pane opts.win; many pictures (a table, NxHxW, NxCxHxW) as a grid.
function display.image(img, opts)
   opts = opts or {}
   if type(img) == 'table' then
      return display.images(img, opts)
   elseif not torch.isTensor(img) then
      error('display.image: expected a tensor or a table of tensors, got ' .. torch.type(img), 2)
   elseif img:dim() == 4 or img:dim() == 3 and img:size(1) > 3 then
      local list = {}
      for i = 1, img:size(1) do
         list[i] = img[i]
      end
      return display.images(list, opts)
   elseif img:dim() == 3 and img:size(1) == 2 then
      error('display.image: a picture has 1 or 3 channels, got 2', 2)
   end
   local content = image.compressJPG(normalized(img, opts), 90)
   return send{command = 'image', id = opts.win or pane(), src = native.python('display.source', content),
      labels = opts._labels, width = opts.width, title = opts.title}
end

-- As large as the largest of the pictures, which all have three dimensions afterwards.
local function extent(list)
   local size = {1, 0, 0}
   for i, img in ipairs(list) do
      if img:dim() == 2 then
         list[i] = img:view(1, img:size(1), img:size(2))
      end
      for d = 1, 3 do
         size[d] = math.max(size[d], list[i]:size(d))
      end
   end
   return size
end

-- Show pictures side by side; `labels` are written over them.
function display.images(images, opts)
   opts = opts or {}
   if #images == 0 then
      error('display.images: there is no picture to show', 2)
   end
   local list = {}
   for i, img in ipairs(images) do
      list[i] = (opts.normalize and normalized(img, opts) or img):contiguous()
   end
   local size, perrow = extent(list), opts.nperrow or math.ceil(math.sqrt(#list))
   local rows = math.ceil(#list / perrow)
   local canvas = torch.FloatTensor(size[1], size[2] * rows, size[3] * perrow):fill(0.5)
   local labels = {}
   for i, img in ipairs(list) do
      local row, column = math.floor((i - 1) / perrow), (i - 1) % perrow
      local cell = canvas:narrow(2, size[2] * row + 1, img:size(2)):narrow(3, size[3] * column + 1, img:size(3))
      cell:copy(img:expand(size[1], img:size(2), img:size(3)))
      if opts.labels and opts.labels[i] then
         labels[#labels + 1] = {column / perrow, row / rows, opts.labels[i]}
      end
   end
   local options = {_labels = #labels > 0 and labels or nil}
   for name, value in pairs(opts) do
      options[name] = value
   end
   return display.image(canvas, options)
end

-- Plot rows of numbers (a matrix, or a list of lists): the first column is x, the others are curves, named by
-- opts.labels. Other options go to the server's dygraphs.
function display.plot(data, opts)
   opts = opts or {}
   local options = {}
   for name, value in pairs(opts) do
      options[name] = value
   end
   options.win = nil
   options.file = torch.isTensor(data) and data:totable() or data
   if options.labels then
      options.xlabel = options.xlabel or options.labels[1]
   end
   return send{command = 'plot', id = opts.win or pane(), title = opts.title, options = options}
end

function display.text(text, opts)
   opts = opts or {}
   return send{command = 'text', id = opts.win or pane(), title = opts.title, text = text}
end

-- Play a sound file (mp3, wav, ogg or aac) in the browser.
function display.audio(file, opts)
   opts = opts or {}
   local kind = type(file) == 'string' and file:match('%.(%w+)$')
   if kind ~= 'mp3' and kind ~= 'wav' and kind ~= 'ogg' and kind ~= 'aac' then
      error('display.audio: expected the name of an mp3, wav, ogg or aac file, got ' .. tostring(file), 2)
   end
   local stream, message = io.open(file, 'rb')
   if not stream then
      error('display.audio: ' .. message, 2)
   end
   local content = torch.ByteTensor(torch.ByteStorage():string(stream:read('*a')))
   stream:close()
   return send{command = 'audio', id = opts.win or pane(), title = opts.title,
      data = native.python('display.source', content, 'audio/' .. kind)}
end

return display
