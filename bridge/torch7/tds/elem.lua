-- Lua values as elements of C memory, and back. Other C types are added with `elem.addctype`.
local ffi = require 'ffi'
local torch = require 'torch'
local C = require 'tds.C'

local NIL, NUMBER, BOOLEAN, STRING = C.TDS_NIL, C.TDS_NUMBER, C.TDS_BOOLEAN, C.TDS_STRING
local pointer = ffi.typeof('void *')
local destructor = ffi.typeof('void (*)(void *)')

local elem = {new = ffi.typeof('tds_elem')}

local setters = {} -- type name -> setfunc
local getters = {} -- address of the destructor -> getfunc

local function address(f)
   return tonumber(ffi.cast('intptr_t', ffi.cast(pointer, f)))
end

-- What tells C types apart; programs may replace it.
elem.type = torch.typename

-- Values of type `ttype` can be stored: `setfunc(object)` answers a C pointer with a reference of its own and the
-- function that gives it back, `getfunc(pointer)` an object with a reference of its own.
function elem.addctype(ttype, free_p, setfunc, getfunc)
   setters[ttype] = setfunc
   getters[address(free_p)] = getfunc
end

-- Write a value to an element that holds nothing.
function elem.set(celem, value)
   local kind = type(value)
   if kind == 'number' then
      celem.type = NUMBER
      celem.value.number = value
   elseif kind == 'string' then
      if C.tds_elem_set_string(celem, value, #value) ~= 0 then
         error('not enough memory')
      end
   elseif kind == 'boolean' then
      celem.type = BOOLEAN
      celem.value.boolean = value and 1 or 0
   elseif kind ~= 'nil' then
      local setter = setters[elem.type(value)]
      if not setter then
         error(string.format('unsupported key/value type <%s> (set)', elem.type(value) or type(value)), 3)
      end
      local data, free = setter(value)
      C.tds_elem_set_pointer(celem, data, ffi.cast(destructor, free))
   end
end

-- The value of an element, which is nil afterwards.
function elem.take(celem)
   local kind = celem.type
   if kind == NUMBER then
      return celem.value.number
   elseif kind == NIL then
      return nil
   elseif kind == BOOLEAN then
      return celem.value.boolean ~= 0
   end
   local value = elem.get(celem)
   C.tds_elem_free_content(celem)
   return value
end

-- The value of an element that keeps it.
function elem.get(celem)
   local kind = celem.type
   if kind == NUMBER then
      return celem.value.number
   elseif kind == NIL then
      return nil
   elseif kind == BOOLEAN then
      return celem.value.boolean ~= 0
   elseif kind == STRING then
      return ffi.string(celem.value.string.data, celem.value.string.size)
   end
   local getter = getters[address(celem.value.pointer.free)]
   if not getter then
      error('unsupported key/value type (get)', 2)
   end
   return getter(celem.value.pointer.data)
end

return elem
