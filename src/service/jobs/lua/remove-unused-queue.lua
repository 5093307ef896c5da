-- Removes keys of a queue unless it is in use. Atomic, because a process marks the queue as used before it adds a
-- chunk.
local usedKey = KEYS[1]
if redis.call('EXISTS', usedKey) == 1 then return 0 end
return redis.call('UNLINK', unpack(KEYS, 2))
