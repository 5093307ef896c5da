-- Removes keys of a queue unless it is in use. As one step: a process that begins to use the queue says so before it
-- adds anything.
local usedKey = KEYS[1]
if redis.call('EXISTS', usedKey) == 1 then return 0 end
return redis.call('UNLINK', unpack(KEYS, 2))
