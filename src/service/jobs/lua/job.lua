-- Functions for all scripts that change a job. Redis runs a script atomically, so no process sees a half-changed job.
-- All times except the creation time come from the clock of Redis.
local jobKey, resultsKey, openKey, finishedKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, storedForMs = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)

local function keyOf(otherId)
  return string.sub(jobKey, 1, -1 - #id) .. otherId
end

local function isUnfinished()
  local status = redis.call('HGET', jobKey, 'status')
  return status == 'accepted' or status == 'running'
end

local function expireLater()
  redis.call('PEXPIRE', jobKey, storedForMs)
  redis.call('PEXPIRE', resultsKey, storedForMs)
end

local function removeFinished(finishedId)
  redis.call('DEL', keyOf(finishedId), keyOf(finishedId) .. ':outcomes')
  redis.call('ZREM', finishedKey, finishedId)
end

-- Removes the oldest finished job of the client that has most, so no client displaces the jobs of others.
local function removeOneFinished()
  local ids = redis.call('ZRANGE', finishedKey, 0, -1)
  local clients, counts = {}, {}
  for at, finishedId in ipairs(ids) do
    local client = redis.pcall('HGET', keyOf(finishedId), 'client')
    -- Without a client, the job has expired or its record is damaged: it goes first.
    if type(client) ~= 'string' then return removeFinished(finishedId) end
    clients[at] = client
    counts[client] = (counts[client] or 0) + 1
  end
  local removed = 1
  for at = 2, #ids do
    if counts[clients[at]] > counts[clients[removed]] then removed = at end
  end
  removeFinished(ids[removed])
end

local function finish(status, maximumKept)
  -- First, because Redis checks its memory only until a script has written something: this write needs none.
  redis.call('HDEL', openKey, id)
  if status ~= 'successful' then redis.call('HDEL', jobKey, 'work') end
  redis.call('HSET', jobKey, 'status', status, 'finished', nowMs, 'updated', nowMs)
  redis.call('ZREM', finishedKey, id)
  redis.call('ZADD', finishedKey, nowMs, id)
  redis.call('ZREMRANGEBYSCORE', finishedKey, '-inf', nowMs - storedForMs)
  while redis.call('ZCARD', finishedKey) > tonumber(maximumKept) do removeOneFinished() end
  redis.call('PEXPIRE', finishedKey, storedForMs)
  expireLater()
end
