-- The image package: loading, saving and showing pictures, geometry, colours, kernels and drawing. A picture is a
-- tensor of height x width or channels x height x width; 0 to 1, or 0 to 255 in a ByteTensor.
require 'torch'
require 'sys'
require 'xlua'
require 'dok' -- programs use it after `require 'image'` alone

image = image or {}
package.loaded.image = image

require('image.color')(image)
require('image.scale')(image)
require('image.crop')(image)
require('image.flip')(image)
require('image.rotate')(image)
require('image.polar')(image)
require('image.warp')(image)
require('image.kernels')(image)
require('image.filter')(image)
require('image.morphology')(image)
require('image.range')(image)
require('image.colormap')(image)
require('image.grid')(image)
require('image.draw')(image)
require('image.files')(image)
require('image.display')(image)
require('image.types')(image)
require('image.selftest')(image)

return image
