-- Removes what has left the time windows of a site's rankings, in one shard.
-- KEYS[1]: the shard's log, for routing. ARGV[1]: the command.

local call = redis.call
local site = ARGV[2]

-- minutes <site> <current minute> <half-life>: subtracts up to 300 pages of an expired
-- minute from the ranking of the last hour. Returns 1 while there is more to do. In the
-- end it removes the pages whose current views have decayed to less than a view of six
-- half-lives ago.
if ARGV[1] == 'minutes' then
  local meta, current = site .. ';meta', tonumber(ARGV[3])
  local first = tonumber(call('HGET', meta, 'm') or current - 59)
  -- Older minutes, and the ranking with them, have expired.
  first = math.max(first, current - 480)
  while first <= current - 60 do
    local key = site .. ';m' .. first
    local pages = call('HRANDFIELD', key, 300, 'WITHVALUES')
    if pages and #pages > 0 then
      local names = {}
      for i = 1, #pages, 2 do
        if tonumber(call('ZINCRBY', site .. ';hour', -pages[i + 1], pages[i])) < 0.5 then
          call('ZREM', site .. ';hour', pages[i])
        end
        names[#names + 1] = pages[i]
      end
      call('HDEL', key, unpack(names))
      call('HSET', meta, 'm', first)
      return 1
    end
    first = first + 1
  end
  if call('EXISTS', meta) == 1 then call('HSET', meta, 'm', first) end
  local reference = tonumber(call('HGET', meta, 'f'))
  if reference then
    local n = (current * 60 - reference) / tonumber(ARGV[4])
    call('ZREMRANGEBYSCORE', site .. ';now', '-inf', string.format('%.17g', 2 ^ (n - 6)))
  end
  return 0
end

-- hours <site> <current hour in quarters> <page>...: recalculates the pages' last
-- 24 hours.
local hours = {}
for h = 0, 23 do hours[h + 1] = (tonumber(ARGV[3]) - 4 * h) * 4 end
for i = 4, #ARGV do
  local sum = 0
  for _, n in ipairs(call('HMGET', site .. ':' .. ARGV[i] .. ':t', unpack(hours))) do sum = sum + (n or 0) end
  if sum > 0 then
    call('ZADD', site .. ';day', sum, ARGV[i])
    call('EXPIRE', site .. ';day', 172800)
  else
    call('ZREM', site .. ';day', ARGV[i])
  end
end
return 0
