--[[
  Takes back a run that was counted.

  KEYS[1]  moments of the client, in ms
  ARGV[1]  moment of the run
]]
return redis.call('LREM', KEYS[1], -1, ARGV[1])
