-- What the functions of the package do alike with their arguments, and their way to Python.
local native = require 'bridge.native'
local xlua = require 'xlua'

local calls = {}

-- Raise an error in the words of the original's documentation library.
function calls.fail(message, name)
   message = '<image.' .. name .. '> ' .. message
   error(sys.COLORS.Red .. message .. sys.COLORS.none, 3)
end

-- Print how a function is called and raise an error. `forms`: lists of {type=, help=, req=}.
function calls.usage(name, what, forms, message)
   local entries = {}
   for i, form in ipairs(forms) do
      if i > 1 then
         entries[#entries + 1] = ''
      end
      for _, entry in ipairs(form) do
         entries[#entries + 1] = entry
      end
   end
   print(xlua.usage('image.' .. name, what, nil, unpack(entries)))
   error(sys.COLORS.Red .. '<image.' .. name .. '> ' .. (message or 'incorrect arguments') .. sys.COLORS.none, 3)
end

calls.input = {type = 'torch.Tensor', help = 'input image', req = true}
calls.destination = {type = 'torch.Tensor', help = 'destination', req = true}

-- (source) or (destination, source); returns destination or nil, source.
function calls.converted(name, what, message, ...)
   local count = select('#', ...)
   if count == 1 then
      return nil, (...)
   elseif count == 2 then
      return ...
   end
   return calls.usage(name, what, {{calls.input}, {{type = 'torch.Tensor', help = 'output image', req = true},
      calls.input}}, message)
end

function calls.tensor(value, name)
   if not torch.isTensor(value) then
      error(string.format('image.%s: a tensor expected, got %s', name,
         value == nil and 'no value' or torch.type(value)), 3)
   end
   return value
end

-- A whole number, truncated as C does.
function calls.integer(value, name, what)
   local number = tonumber(value)
   if not number or number ~= number or math.abs(number) >= 2^53 then
      error(string.format('image.%s: %s has to be a number, got %s', name, what, tostring(value)), 3)
   end
   return number < 0 and math.ceil(number) or math.floor(number)
end

-- Call a function of Python that reads or writes files.
function calls.python(name, ...)
   if not native.python then
      error("image files are read by Python's Pillow, which this state has no way to", 3)
   end
   return native.python('image.' .. name, ...)
end

-- The elements of a ByteTensor as a string.
function calls.bytes(tensor)
   local count = tensor:nElement()
   return count > 0 and torch.ByteTensor(count):copy(tensor):storage():string() or ''
end

-- The content of a file, from a ByteTensor of pixels.
function calls.encode(pixels, format, quality)
   local content, message = calls.python('encode', pixels, format, quality)
   if not content then
      error(message, 0)
   end
   return calls.bytes(content)
end

return calls
