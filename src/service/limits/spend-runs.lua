--[[
  Counts a run of a client if it is allowed. The key is the list of the moments of its last runs, oldest first, as in
  MemoryWindow. Redis runs a script as a whole, so no two replicas can let the same last run pass; the clock is that of
  Redis, so replicas need not agree on theirs. That clock may be set back, or be another one after a failover: moments
  later than now no longer count, or a client would be refused until the clock has caught up. A key that holds anything
  but such a list is replaced; keys with our prefix are ours.

  KEYS[1]  moments of the client, in ms
  ARGV[1]  runs that are allowed within the window
  ARGV[2]  length of the window, in ms

  Returns whether it is allowed (1 or 0), how many more are, ms until the oldest leaves the window, the moment counted.
]]
local key = KEYS[1]
local limit = tonumber(ARGV[1])
local window = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function counts(text)
  local moment = tonumber(text)
  return moment and moment > now - window and moment <= now
end

local length = redis.pcall('LLEN', key)
if type(length) == 'table' then
  if not string.find(length.err, 'WRONGTYPE', 1, true) then return length end
  redis.call('DEL', key)
end
local oldest = redis.call('LINDEX', key, 0)
while oldest and not counts(oldest) do
  redis.call('LPOP', key)
  oldest = redis.call('LINDEX', key, 0)
end
local newest = redis.call('LINDEX', key, -1)
while newest and not counts(newest) do
  redis.call('RPOP', key)
  newest = redis.call('LINDEX', key, -1)
end
local count = redis.call('LLEN', key)
local allowed = 0
if count < limit then
  allowed = 1
  count = count + 1
  redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIRE', key, window)
end
return { allowed, limit - count, tonumber(oldest or now) + window - now, now }
