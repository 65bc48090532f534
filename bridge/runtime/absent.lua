-- For Torch7 packages that this runtime does not have, `require` adds to its error what to use instead.
local CPU = 'its kernels are written in CUDA for one Torch7; use layers of nn in its place, or the model in PyTorch'
local WINDOW = 'there are no windows here; image.display and the display package show pictures in a browser'
local OPENCL = 'OpenCL is not supported; choose the CPU in the program, or CUDA with MOONTIDE_CUDA=cpu'
local LINK = 'parameters are shared through luaps here (see README.md)'

local hints = {
   nccl = 'nn.DataParallelTable adds up gradients without it: leave its third argument out',
   cunnx = CPU, cunnsparse = CPU, fbcunn = CPU, ccn2 = CPU, ['cuda-convnet2'] = CPU, inn = CPU, stn = CPU,
   warp_ctc = CPU, cutorch_ext = CPU, spatial = CPU, flownet = CPU,
   clnn = OPENCL, cltorch = OPENCL,
   qt = WINDOW, qtwidget = WINDOW, qttorch = WINDOW, qtuiloader = WINDOW, qtcore = WINDOW, qtgui = WINDOW,
   camera = 'there is no access to cameras; read frames from files with the image package',
   itorch = 'notebooks run Python here: bridge.Lua() gives them Lua',
   gnuplot = 'optim.Logger plots through matplotlib, and the display package in a browser',
   parallel = LINK, torchmpi = LINK, distlearn = LINK,
   unsup = 'its auto-encoders are made of nn.Linear, nn.Tanh and nn.MSECriterion, or of layers of PyTorch',
   mattorch = 'save the data as HDF5 (MATLAB: -v7.3) and read them with the hdf5 package',
   autograd = 'write the gradient with nn or nngraph, or the model in PyTorch',
}

-- A searcher for package.loaders that finds nothing and returns the reason.
return function(name)
   local rock = tostring(name):match('^[^.]+')
   local hint = rock and hints[rock]
   return hint and string.format("\n\tthe Torch7 package '%s' is not part of this runtime: %s", rock, hint) or nil
end
