-- Says that a job is being computed. Returns 1 where it is still wanted.
--- @include "job"
if not isUnfinished() then return 0 end
if redis.call('HGET', jobKey, 'status') == 'accepted' then
  redis.call('HSET', jobKey, 'status', 'running', 'started', nowMs, 'updated', nowMs)
end
expireLater()
redis.call('PEXPIRE', openKey, keptMs)
return 1
