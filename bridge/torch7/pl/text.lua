-- Paragraphs and templates; all of it is part of stringx.
return require 'pl.stringx'
