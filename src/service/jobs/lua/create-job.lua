-- Creates a job if the limits allow it. Returns its id, or the id of the job that the same request created before.
-- Otherwise returns false and the unfinished work: jobs of all clients, jobs of this client, and the remaining price
-- of the latter.
--- @include "job"
local requestKey = KEYS[5]
local client, priceMs, head, work = unpack(ARGV, 3, 6)
local jobsPerClient, brainMsPerClient, isRemembered = unpack(ARGV, 7, 9)
-- Limits of unfinished jobs in total: for a client that has none, and for one that has some.
local limitOfNew, limitOfOthers, coreMsPerBrainSecond, version = unpack(ARGV, 10, 13)

-- The same as heldMs in job-admission.ts.
local function heldMs(job, doneMs, timedBrainMs, timedCostMs)
  local takenMs = timedCostMs * 1000 / (coreMsPerBrainSecond * math.max(1, timedBrainMs))
  local priceMsOfJob = job.priceMs or job.brainMs
  return math.ceil((job.brainMs - doneMs) * math.max(priceMsOfJob / math.max(1, job.brainMs), takenMs))
end

-- Returns nil if the job has expired or its record is damaged. One damaged record must not keep others from beginning.
local function heldMsOf(otherId)
  local isReadable, ms = pcall(function()
    local fields = redis.call('HMGET', keyOf(otherId), 'head', 'brainMs', 'timedBrainMs', 'timedCostMs')
    return heldMs(cjson.decode(fields[1]), fields[2] or 0, fields[3] or 0, fields[4] or 0)
  end)
  return isReadable and ms or nil
end

if isRemembered == '1' then
  local earlierId = redis.call('GET', requestKey)
  if earlierId and heldMsOf(earlierId) then return { earlierId } end
end

local jobs, ownJobs, ownMs = 0, 0, 0
local open = redis.call('HGETALL', openKey)
for at = 1, #open, 2 do
  local otherId, otherClient = open[at], open[at + 1]
  local otherMs = heldMsOf(otherId)
  if not otherMs then
    redis.call('HDEL', openKey, otherId)
  else
    jobs = jobs + 1
    if otherClient == client then
      ownJobs = ownJobs + 1
      ownMs = ownMs + otherMs
    end
  end
end

local limit = tonumber(ownJobs == 0 and limitOfNew or limitOfOthers)
local isWithinLimits = jobs < limit and ownJobs < tonumber(jobsPerClient)
if not isWithinLimits or ownMs + tonumber(priceMs) > tonumber(brainMsPerClient) then
  return { false, jobs, ownJobs, ownMs }
end
redis.call('HSET', jobKey, 'head', head, 'work', work, 'client', client, 'status', 'accepted', 'updated', nowMs)
redis.call('HSET', jobKey, 'version', version)
redis.call('HSET', openKey, id, client)
redis.call('PEXPIRE', openKey, storedForMs)
redis.call('PEXPIRE', jobKey, storedForMs)
if isRemembered == '1' then redis.call('SET', requestKey, id, 'PX', storedForMs) end
return { id }
