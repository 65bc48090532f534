-- Steps of recurrent layers, as cuDNN defines them. A cell gets the input's part of its gates (`a`, with its bias) and
-- the part of the state before (`b`, with its own bias), leaves the gates in `a`, and makes the next state.
--
-- backward(a, b, prev, next, grad, da, db): `grad` has the gradients of the next state and becomes what reaches the
-- state before without going through the matrices; da and db are the gradients of the two parts.
local cells = {}

local function gate(t, k, H)
   return t:narrow(2, (k - 1) * H + 1, H)
end

local function plain(activate, slope)
   return {
      gates = 1,
      forward = function(a, b, _, next)
         activate(next.h:add(a, b))
      end,
      backward = function(_, _, _, next, grad, da, db)
         slope(da, next.h):cmul(grad.h)
         db:copy(da)
         grad.h:zero()
      end,
   }
end

cells.CUDNN_RNN_RELU = plain(function(h)
   return h:cmax(0)
end, function(to, h)
   return to:gt(h, 0)
end)

cells.CUDNN_RNN_TANH = plain(function(h)
   return h:tanh()
end, function(to, h)
   return to:cmul(h, h):mul(-1):add(1)
end)

-- Gates i, f, g, o: c = f c(t - 1) + i g, h = o tanh(c).
cells.CUDNN_LSTM = {
   gates = 4,
   forward = function(a, b, prev, next)
      local H = next.h:size(2)
      a:add(b)
      a:narrow(2, 1, 2 * H):sigmoid()
      gate(a, 3, H):tanh()
      gate(a, 4, H):sigmoid()
      next.c:cmul(gate(a, 2, H), prev.c):addcmul(1, gate(a, 1, H), gate(a, 3, H))
      next.h:tanh(next.c):cmul(gate(a, 4, H))
   end,
   backward = function(a, _, prev, next, grad, da, db)
      local H = next.h:size(2)
      local i, f, g, o = gate(a, 1, H), gate(a, 2, H), gate(a, 3, H), gate(a, 4, H)
      local di, df, dg, output = gate(da, 1, H), gate(da, 2, H), gate(da, 3, H), gate(da, 4, H)
      di:tanh(next.c)
      df:cmul(di, di):mul(-1):add(1):cmul(o):cmul(grad.h)
      grad.c:add(df)
      output:mul(o, -1):add(1):cmul(o):cmul(di):cmul(grad.h)
      dg:cmul(g, g):mul(-1):add(1):cmul(i):cmul(grad.c)
      di:mul(i, -1):add(1):cmul(i):cmul(g):cmul(grad.c)
      df:mul(f, -1):add(1):cmul(f):cmul(prev.c):cmul(grad.c)
      db:copy(da)
      grad.c:cmul(f)
      grad.h:zero()
   end,
}

-- Gates r, z and the candidate n = tanh(a + r b): h = (1 - z) n + z h(t - 1).
cells.CUDNN_GRU = {
   gates = 3,
   forward = function(a, b, prev, next)
      local H = next.h:size(2)
      a:narrow(2, 1, 2 * H):add(b:narrow(2, 1, 2 * H)):sigmoid()
      local z, n = gate(a, 2, H), gate(a, 3, H)
      n:addcmul(1, gate(a, 1, H), gate(b, 3, H)):tanh()
      next.h:cmul(z, prev.h):add(n):addcmul(-1, z, n)
   end,
   backward = function(a, b, prev, next, grad, da, db)
      local H = next.h:size(2)
      local r, z, n = gate(a, 1, H), gate(a, 2, H), gate(a, 3, H)
      local dr, dz, dn = gate(da, 1, H), gate(da, 2, H), gate(da, 3, H)
      dn:mul(z, -1):add(1):cmul(grad.h)
      dr:cmul(n, n):mul(-1):add(1)
      dn:cmul(dr)
      dz:add(prev.h, -1, n):cmul(grad.h):cmul(z)
      dz:addcmul(-1, z, dz)
      dr:cmul(dn, gate(b, 3, H)):cmul(r)
      dr:addcmul(-1, r, dr)
      db:copy(da)
      gate(db, 3, H):cmul(r)
      grad.h:cmul(z)
   end,
}

return cells
