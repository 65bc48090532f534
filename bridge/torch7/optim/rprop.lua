-- Rprop: steps by the gradient's signs, longer while a sign stays, shorter when it changes (Riedmiller, Braun 1993).
return function(opfunc, x, config, state)
   if config == nil and state == nil then
      print('no state table RPROP initializing')
   end
   config = config or {}
   state = state or config
   local largest, smallest = config.stepsizemax or 50, config.stepsizemin or 1e-6

   local values = {}
   for _ = 1, config.niter or 1 do
      local fx, dfdx = opfunc(x)
      values[#values + 1] = fx
      if not state.delta then
         state.delta = dfdx.new():resizeAs(dfdx):zero()
         state.stepsize = dfdx.new():resizeAs(dfdx):fill(config.stepsize or 0.1)
         state.sign = dfdx.new():resizeAs(dfdx)
         for _, name in ipairs{'psign', 'nsign', 'zsign', 'dminmax'} do
            state[name] = torch.ByteTensor(dfdx:size())
         end
      end

      -- `sign` is that of the derivative's change until the steps are adapted, then that of the derivative.
      local sign, stepsize, limit = state.sign, state.stepsize, state.dminmax
      sign:cmul(dfdx, state.delta):sign()
      sign.gt(state.psign, sign, 0)
      sign.lt(state.nsign, sign, 0)
      sign.eq(state.zsign, sign, 0)
      sign[state.psign] = config.etaplus or 1.2
      sign[state.nsign] = config.etaminus or 0.5
      sign[state.zsign] = 1
      stepsize:cmul(sign)
      stepsize[stepsize.gt(limit, stepsize, largest)] = largest
      stepsize[stepsize.lt(limit, stepsize, smallest)] = smallest

      dfdx[state.nsign] = 0 -- a parameter that passed its minimum waits for one step
      sign:sign(dfdx)
      x:addcmul(-1, sign, stepsize)
      state.delta:copy(dfdx)
   end
   return x, values
end
