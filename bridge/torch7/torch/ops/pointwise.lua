-- Arithmetic, element by element.
local native = require 'bridge.native'
local types = require 'torch.ops.types'
local each = require 'torch.ops.each'
local object = require 'torch.object'
local geometry = require 'torch.geometry'
local kernels = require 'torch.kernels'
local elements = require 'torch.elements'
local arguments = require 'torch.arguments'

local C = native.C
local tensor, resizeas = object.tensor, geometry.resizeas

-- r = f(t), f(t, v) or f(t, v, w)
local function map(op)
   return each(kernels.map, op)
end

-- r = f(a, b) or f(a, b, v)
local function pair(op)
   return each(kernels.pair, op)
end

local function fill(r, v)
   kernels.fill(r, v)
   return r
end

local function zero(r)
   kernels.fill(r, 0)
   return r
end

-- r = t + v b
local function axpy(r, t, v, b)
   resizeas(tensor(r), tensor(t))
   kernels.pair(C.BR_ADD, r, t, b, v)
   return r
end

local function subtract(r, t, v)
   resizeas(tensor(r), tensor(t))
   kernels.map(C.BR_ADDS, r, t, -v)
   return r
end

local function axmy(r, t, v, b)
   return axpy(r, t, -v, b)
end

local function triple(op)
   return function(r, t, v, a, b)
      resizeas(tensor(r), tensor(t))
      kernels.triple(op, r, t, a, b, v)
      return r
   end
end

local function scalarRow(name, of, op)
   return {name = name, types = of, forms = {'*T T+ real', map(op)}}
end

local function pairRow(name, of, op)
   return {name = name, types = of, forms = {'*T T+ T', pair(op)}}
end

-- Bits: of integers alone, but the names exist for all.
local function bitRow(name, row, op)
   local made = row(name, types.NUMERIC, op)
   local f = made.forms[2]
   made.forms[2] = function(r, t, v)
      if not elements[tensor(t).dtype].integer then
         arguments.raise('%s is only supported for integer type tensors', name)
      end
      return f(r, t, v)
   end
   return made
end

-- The larger or the smaller one; a method that is given two tensors compares them, as a function does.
local function eitherRow(name, scalarop, pairop)
   return {name = name, types = types.NUMERIC,
      forms = {'[*T] T+ T', pair(pairop), '[*T] T+ real', map(scalarop)}}
end

local ALL, NUMERIC, FLOAT = types.ALL, types.NUMERIC, types.FLOAT

return {
   {name = 'fill', types = ALL, forms = {'*T! real', fill}},
   {name = 'zero', types = ALL, forms = {'*T!', zero}},
   {name = 'add', types = ALL, forms = {'*T T+ real', map(C.BR_ADDS), '*T T+ [real=1] T', axpy}},
   {name = 'csub', types = NUMERIC, forms = {'*T T+ real', subtract, '*T T+ [real=1] T', axmy}},
   scalarRow('mul', ALL, C.BR_MULS),
   scalarRow('div', ALL, C.BR_DIVS),
   scalarRow({'fmod', 'mod'}, NUMERIC, C.BR_FMODS),
   scalarRow('remainder', NUMERIC, C.BR_REMAINDERS),
   scalarRow('lshift', NUMERIC, C.BR_LSHIFTS),
   scalarRow('rshift', NUMERIC, C.BR_RSHIFTS),
   bitRow('bitand', scalarRow, C.BR_ANDS),
   bitRow('bitor', scalarRow, C.BR_ORS),
   bitRow('bitxor', scalarRow, C.BR_XORS),
   pairRow('cmul', NUMERIC, C.BR_MUL),
   pairRow('cdiv', NUMERIC, C.BR_DIV),
   pairRow({'cfmod', 'cmod'}, NUMERIC, C.BR_FMOD),
   pairRow('cremainder', NUMERIC, C.BR_REMAINDER),
   pairRow('cpow', NUMERIC, C.BR_POW),
   pairRow('clshift', NUMERIC, C.BR_LSHIFT),
   pairRow('crshift', NUMERIC, C.BR_RSHIFT),
   bitRow('cbitand', pairRow, C.BR_AND),
   bitRow('cbitor', pairRow, C.BR_OR),
   bitRow('cbitxor', pairRow, C.BR_XOR),
   eitherRow('cmax', C.BR_CMAXS, C.BR_CMAX),
   eitherRow('cmin', C.BR_CMINS, C.BR_CMIN),
   {name = 'addcmul', types = NUMERIC, forms = {'*T T+ [real=1] T T', triple(C.BR_ADDCMUL)}},
   {name = 'addcdiv', types = NUMERIC, forms = {'*T T+ [real=1] T T', triple(C.BR_ADDCDIV)}},
   {name = 'clamp', types = NUMERIC, forms = {'*T T+ real real', map(C.BR_CLAMP)}},
   {name = 'lerp', types = FLOAT, forms = {'*T T+ T real', pair(C.BR_LERP), 'real real real',
      function(a, b, weight) return a + weight * (b - a) end}},
   {name = 'abs', types = {'Char', 'Short', 'Int', 'Long', 'Half', 'Float', 'Double'},
      forms = {'*T T+', map(C.BR_ABS), 'real', math.abs}},
   {name = 'sign', types = NUMERIC, forms = {'*T T+', map(C.BR_SIGN)}},
   {name = 'neg', types = FLOAT, forms = {'*T T+', map(C.BR_NEG)}},
   {name = 'cinv', types = FLOAT, forms = {'*T T+', map(C.BR_CINV)}},
}
