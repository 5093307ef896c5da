-- Returns the commands of jobs that the user of this connection may not run: those of our scripts, of BullMQ, and of
-- the service itself. Each is tried on a text, which only a few of them change.
local key, keptMs = KEYS[1], ARGV[1]

local commands = {
  { 'PERSIST', key }, { 'PEXPIRE', key, keptMs }, { 'PTTL', key }, { 'EXISTS', key }, { 'GET', key }, { 'TIME' },
  { 'HGET', key, 'a' }, { 'HSET', key, 'a', 1 }, { 'HSETNX', key, 'a', 1 }, { 'HDEL', key, 'a' }, { 'HLEN', key },
  { 'HKEYS', key }, { 'HGETALL', key }, { 'HMGET', key, 'a' }, { 'HMSET', key, 'a', 1 }, { 'HEXISTS', key, 'a' },
  { 'HINCRBY', key, 'a', 1 }, { 'HINCRBYFLOAT', key, 'a', 1 }, { 'INCR', key },
  { 'LINDEX', key, 0 }, { 'LLEN', key }, { 'LPUSH', key, 1 }, { 'LRANGE', key, 0, 0 }, { 'LREM', key, 0, 1 },
  { 'LTRIM', key, 0, 0 }, { 'RPOP', key }, { 'RPOPLPUSH', key, key },
  { 'SADD', key, 1 }, { 'SCARD', key }, { 'SMEMBERS', key }, { 'SREM', key, 1 },
  { 'XADD', key, '*', 'a', 1 }, { 'XTRIM', key, 'MAXLEN', 1 },
  { 'ZADD', key, 1, 1 }, { 'ZCARD', key }, { 'ZCOUNT', key, 1, 1 }, { 'ZPOPMIN', key }, { 'ZRANGE', key, 0, 0 },
  { 'ZRANGEBYSCORE', key, 1, 1 }, { 'ZREM', key, 1 }, { 'ZREMRANGEBYRANK', key, 0, 0 },
  { 'ZREMRANGEBYSCORE', key, 1, 1 }, { 'ZREVRANGE', key, 0, 0 }, { 'ZREVRANGEBYSCORE', key, 1, 1 },
  { 'ZSCORE', key, 1 }, { 'BZPOPMIN', key, 1 }, { 'SCAN', 0, 'COUNT', 1 }, { 'UNLINK', key }, { 'DEL', key },
}

-- Redis 7.0 and 7.2 have different words for it.
local function isDenied(reply)
  if type(reply) ~= 'table' or not reply.err then return false end
  return string.find(reply.err, 'user executing the script', 1, true) or string.find(reply.err, 'permission', 1, true)
end

-- Without the text, the other commands would create keys.
local written = redis.pcall('SET', key, 'text', 'PX', keptMs)
if isDenied(written) then return { 'SET' } end
if written.err then return {} end
local denied = {}
for _, command in ipairs(commands) do
  if isDenied(redis.pcall(unpack(command))) then denied[#denied + 1] = command[1] end
end
return denied
