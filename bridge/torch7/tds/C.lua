-- The native half of tds (bridge/core/tds/tds.h): `tds.C.tds_hash_free` and its kind.
return require('bridge.native').C
