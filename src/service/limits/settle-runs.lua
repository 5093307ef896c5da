--[[
  Takes back a run that was counted.

  KEYS[1]  times of the client's runs, in ms
  ARGV[1]  time of the run
]]
return redis.call('LREM', KEYS[1], -1, ARGV[1])
