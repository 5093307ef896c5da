--[[
  Charges an amount to a client if it is allowed. The key is a hash from slots of time to charged amounts, as in
  MemoryWindow. The clock is that of Redis and may be set back, so slots in the future do not count. Any other key or
  field is removed.

  KEYS[1]  spending of the client by slot
  ARGV[1]  limit of the window
  ARGV[2]  length of the window, in ms
  ARGV[3]  length of a slot, in ms
  ARGV[4]  amount to charge

  Returns 1 if it is allowed and 0 if not; the remaining amount; ms until the same amount is allowed, or until the
  oldest slot leaves; the current slot.
]]
local key = KEYS[1]
local limit = tonumber(ARGV[1])
local window = tonumber(ARGV[2])
local slotLength = tonumber(ARGV[3])
local amount = tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local current = math.floor(now / slotLength)

local function leaves(slot)
  return (slot + 1) * slotLength + window
end

local fields = redis.pcall('HGETALL', key)
if fields.err then
  if not string.find(fields.err, 'WRONGTYPE', 1, true) then return fields end
  redis.call('DEL', key)
  fields = {}
end
local slots = {}
local free = limit
for at = 1, #fields, 2 do
  local slot = tonumber(fields[at])
  local spent = tonumber(fields[at + 1])
  local whole = spent and spent > 0 and spent < 2 ^ 53 and spent == math.floor(spent)
  if whole and slot and slot == math.floor(slot) and slot <= current and leaves(slot) > now then
    slots[#slots + 1] = { slot, spent }
    free = free - spent
  else
    redis.call('HDEL', key, fields[at])
  end
end
table.sort(slots, function(a, b) return a[1] < b[1] end)
local remaining = free - amount
if remaining < 0 then
  for _, entry in ipairs(slots) do
    free = free + entry[2]
    if free >= amount then return { 0, remaining + amount, leaves(entry[1]) - now, current } end
  end
  return { 0, remaining + amount, window, current }
end
redis.call('HINCRBY', key, string.format('%.0f', current), string.format('%.0f', amount))
redis.call('PEXPIRE', key, window + slotLength)
local oldest = slots[1] and slots[1][1] or current
return { 1, remaining, leaves(oldest) - now, current }
