-- The name under which programs know the native half of ipc: here the whole package.
return require 'ipc'
