-- The torch of Torch7: `local torch = require 'torch'` also makes it a global.
require 'paths' -- whose global programs use after `require 'torch'` alone, in threads above all

torch = torch or {}
package.loaded.torch = torch

require('torch.recompile')
require('torch.class')(torch)
require('torch.storage')(torch)
require('torch.tensor')(torch)
require('torch.resize')(torch)
require('torch.views')(torch)
require('torch.copy')(torch)
require('torch.apply')()
require('torch.assemble')(torch)
local alone = require('torch.operations')(torch)
require('torch.print')(torch)
require('torch.random')(torch)
require('torch.subscripts')(torch)
require('torch.typed')(torch, alone)
require('torch.machine')(torch)
require('torch.files')(torch)
require('torch.timer')(torch)
require('torch.environment')(torch)
require('torch.foreign')()
require('torch.cmdline')(torch)
require('torch.testsuite')(torch)
require('torch.tester')(torch)
require('torch.selftest')(torch)

return torch
