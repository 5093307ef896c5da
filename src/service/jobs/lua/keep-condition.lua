-- Stores the result of a condition, once. Returns 1 if the job is still wanted.
--- @include "job"
local index, result, brainMs, costMs = unpack(ARGV, 3, 6)
local conditions, maximumBytes, failure, maximumKept = unpack(ARGV, 7, 10)

if not isUnfinished() then return 0 end
if redis.call('HSETNX', resultsKey, index, result) == 0 then return 1 end
if redis.call('HINCRBY', jobKey, 'bytes', #result) > tonumber(maximumBytes) then
  redis.call('DEL', resultsKey)
  redis.call('HSET', jobKey, 'failure', failure)
  finish('failed', maximumKept)
  return 0
end
redis.call('HINCRBY', jobKey, 'brainMs', brainMs)
if tonumber(costMs) > tonumber(redis.call('HGET', jobKey, 'costMs') or 0) then
  redis.call('HSET', jobKey, 'costMs', costMs)
end
if tonumber(costMs) > 0 then
  redis.call('HINCRBY', jobKey, 'timedBrainMs', brainMs)
  redis.call('HINCRBYFLOAT', jobKey, 'timedCostMs', costMs)
end
redis.call('HSET', jobKey, 'updated', nowMs)
if redis.call('HINCRBY', jobKey, 'done', 1) == tonumber(conditions) then
  finish('successful', maximumKept)
else
  expireLater()
end
return 1
