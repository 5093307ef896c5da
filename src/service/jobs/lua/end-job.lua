-- Ends a job as failed or dismissed and removes its results. A finished job can only be dismissed. This frees memory
-- even if Redis is full.
--- @include "job"
local newStatus, failure, maximumKept = unpack(ARGV, 3, 5)

local status = redis.call('HGET', jobKey, 'status')
if not status then return 0 end
if not isUnfinished() and (newStatus ~= 'dismissed' or status == 'dismissed') then return 0 end
redis.call('UNLINK', resultsKey)
if failure ~= '' then redis.call('HSET', jobKey, 'failure', failure) else redis.call('HDEL', jobKey, 'failure') end
finish(newStatus, maximumKept)
return 1
