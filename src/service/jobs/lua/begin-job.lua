-- Marks a job as running. Returns 1 if it is still wanted.
--- @include "job"
if not isUnfinished() then return 0 end
if redis.call('HGET', jobKey, 'status') == 'accepted' then
  redis.call('HSET', jobKey, 'status', 'running', 'started', nowMs, 'updated', nowMs)
end
expireLater()
redis.call('PEXPIRE', openKey, storedForMs)
return 1
