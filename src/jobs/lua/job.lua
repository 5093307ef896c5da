-- Functions of all scripts that change a job. Redis runs a script as a whole, so no two processes see a job half
-- changed; its clock is the one of all times but that of creation.
local jobKey, outcomesKey, openKey, finishedKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, keptMs = ARGV[1], ARGV[2]
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
  redis.call('PEXPIRE', jobKey, keptMs)
  redis.call('PEXPIRE', outcomesKey, keptMs)
end

-- Removes the oldest finished job of the client that has most, so that no client displaces the jobs of others.
local function removeOneFinished()
  local ids = redis.call('ZRANGE', finishedKey, 0, -1)
  local clients, counts = {}, {}
  for at, finishedId in ipairs(ids) do
    local client = redis.call('HGET', keyOf(finishedId), 'client') or ''
    clients[at] = client
    counts[client] = (counts[client] or 0) + 1
  end
  local removed = 1
  for at = 2, #ids do
    if counts[clients[at]] > counts[clients[removed]] then removed = at end
  end
  redis.call('DEL', keyOf(ids[removed]), keyOf(ids[removed]) .. ':outcomes')
  redis.call('ZREM', finishedKey, ids[removed])
end

local function finish(status, maximumKept)
  -- Before anything that needs memory: a Redis that is full refuses a script only as long as it has written nothing.
  redis.call('HDEL', openKey, id)
  if status ~= 'successful' then redis.call('HDEL', jobKey, 'work') end
  redis.call('HSET', jobKey, 'status', status, 'finished', nowMs, 'updated', nowMs)
  redis.call('ZREM', finishedKey, id)
  redis.call('ZADD', finishedKey, nowMs, id)
  redis.call('ZREMRANGEBYSCORE', finishedKey, '-inf', nowMs - keptMs)
  while redis.call('ZCARD', finishedKey) > tonumber(maximumKept) do removeOneFinished() end
  redis.call('PEXPIRE', finishedKey, keptMs)
  expireLater()
end
