--[[
  Replaces a charge by the real amount. A deficit counts from now on. A surplus is given back only if its slot is still
  stored: otherwise the script would create a key that never expires.

  KEYS[1]  spending of the client by slot
  ARGV[1]  slot of the charge
  ARGV[2]  real amount minus charge
  ARGV[3]  length of the window, in ms
  ARGV[4]  length of a slot, in ms
]]
local key = KEYS[1]
local spentIn = ARGV[1]
local change = ARGV[2]
local window = ARGV[3]
local slotLength = ARGV[4]

if tonumber(change) > 0 then
  local time = redis.call('TIME')
  local current = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / tonumber(slotLength))
  if redis.call('TYPE', key).ok ~= 'hash' then redis.call('DEL', key) end
  redis.call('HINCRBY', key, string.format('%.0f', current), change)
  redis.call('PEXPIRE', key, window + slotLength)
elseif redis.call('HEXISTS', key, spentIn) == 1 then
  redis.call('HINCRBY', key, spentIn, change)
end
return 1
