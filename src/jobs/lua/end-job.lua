-- Ends a job as failed or dismissed and removes its results. Only dismissal ends what is finished. Frees memory also in
-- a Redis that is full.
--- @include "job"
local newStatus, failure, maximumKept = unpack(ARGV, 3, 5)

local status = redis.call('HGET', jobKey, 'status')
if not status then return 0 end
if not isUnfinished() and (newStatus ~= 'dismissed' or status == 'dismissed') then return 0 end
redis.call('UNLINK', outcomesKey)
if failure ~= '' then redis.call('HSET', jobKey, 'failure', failure) else redis.call('HDEL', jobKey, 'failure') end
finish(newStatus, maximumKept)
return 1
