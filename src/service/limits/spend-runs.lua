--[[
  Counts a run of a client if it is allowed. The key is the list of the times of its last runs, oldest first, as in
  MemoryWindow. Redis runs a script atomically, so two replicas cannot both allow the last run. The clock is that of
  Redis, so replicas need not agree on theirs.

  That clock may be set back, or change after a failover. So times in the future do not count: otherwise a client would
  be refused until the clock has caught up. A key of another type is replaced, because keys with our prefix are ours.

  KEYS[1]  times of the client's runs, in ms
  ARGV[1]  limit of runs in the window
  ARGV[2]  length of the window, in ms

  Returns 1 if it is allowed and 0 if not; the number of remaining runs; ms until the oldest run leaves the window; the
  counted time.
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
