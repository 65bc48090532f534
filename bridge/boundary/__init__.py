"""What calls and conversions between Python and Lua consist of: `README.md` says which file does what."""
