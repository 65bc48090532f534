-- The torchx package: functions of torch over tables of tensors, places of values, and groups of equal ones.
require 'torch'

torchx = {}
package.loaded.torchx = torchx

require('torchx.find')(torch)
require('torchx.concat')(torch)
require('torchx.group')(torch)
require('torchx.remap')(torch)
require 'torchx.Queue'

return torchx
