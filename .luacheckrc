-- Lua here is LuaJIT 2.1 with the globals that Torch7 programs expect; three-space indentation.
std = 'luajit'
max_line_length = 120
codes = true

-- `require 'torch'` and its companions define these, as in Torch7.
read_globals = { 'torch', 'nn', 'optim', 'nngraph', 'graph', 'paths', 'xlua', 'sys', 'image', 'cutorch', 'cunn', 'cudnn' }

ignore = {
   '212/self', -- a method that does not use its object is still a method
   '212/_.*', -- an argument that is named for the caller's sake
   '581', -- `not (x < y)` is not `x >= y` where NaN may come
}

-- The language environment supplies Lua 5.2's names where LuaJIT lacks them.
files['bridge/runtime'] = { globals = { 'bit32', 'rawlen', 'pairs', 'ipairs', 'table', 'load', 'loadstring', 'loadfile', 'dofile',
   'require', 'print', 'os', 'io', 'string', 'debug', 'coroutine', 'module' } }
files['bridge/torch7'] = { globals = { 'torch', 'nn', 'optim', 'nngraph', 'graph', 'paths', 'xlua', 'sys', 'image', 'cutorch',
   'cunn', 'cudnn', 'csvigo', 'dok', 'dpnn', 'fbnn', 'hdf5', 'loadcaffe', 'nnx', 'rnn', 'torchx', 'include' } }

-- A model file of its time defines what its users call as globals.
files['examples'] = { ignore = { '131' }, globals = { 'model', 'criterion', 'parameters', 'gradParameters', 'train',
   'predict', 'connect', 'pull',
   'push', 'disconnect' } }
