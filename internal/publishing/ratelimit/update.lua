-- Updates one bucket, KEYS[1], with the network's report (see acquire.lua), and
-- returns which of the posts in KEYS[2] should try again.
--
-- KEYS[2] is a sorted set: waiting posts, by the time until which they wait.
--
-- ARGV: limit (0: not reported), remaining, ms until the reset (0: not reported;
-- below 0: it has passed, and the report is of a window that has ended), ms for
-- which the bucket is closed (0: open), the declared period in ms (0: unknown),
-- tokens to release and the declared limit, the lifetime of a reported limit in ms,
-- the trusted period in ms (0: learn it from resets), 1 if a call succeeded, 1 if one
-- got a 429 without a time, how many posts are woken at most.
local tolerance = 2000 -- resets are in whole seconds and of another clock
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local key = KEYS[1]
local limit, remaining, reset_in, closed_in = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local per, released, released_limit, ttl = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local trusted, succeeded, refused, max_woken = tonumber(ARGV[9]), ARGV[10] == '1', ARGV[11] == '1', tonumber(ARGV[12])
local h = redis.call('HMGET', key, 'closed', 'limit', 'left', 'reset', 'per', 'tat', 'guess', 'taken', 'reported', 'refused', 'refused_at')
local closed, left, reset, tat = tonumber(h[1]) or 0, tonumber(h[3]), tonumber(h[4]), tonumber(h[6]) or 0
local learned, guess, before = tonumber(h[2]), h[7] == '1', tonumber(h[9])
local live = reset ~= nil and reset > now
local set, opened = {}, false

if released > 0 and live then
  left = math.min(left + released, learned or released_limit)
  set.left = string.format('%.0f', left)
elseif released > 0 and tat > now and per > 0 and released_limit > 0 then
  tat = tat - released * per / released_limit
  set.tat = string.format('%.3f', tat)
end

if closed_in > 0 and now + closed_in > closed then
  closed = now + closed_in
  set.closed = string.format('%.3f', closed)
  redis.call('HDEL', key, 'refused', 'refused_at') -- its end is known
elseif refused and closed <= now then
  local times = (tonumber(h[11]) or 0) > now - 600000 and tonumber(h[10]) or 0
  closed = now + math.min(1000 * 2 ^ times, 30000)
  set.closed, set.refused, set.refused_at = string.format('%.3f', closed), times + 1, string.format('%.0f', now)
elseif succeeded and h[10] then
  closed, opened = 0, true
  redis.call('HDEL', key, 'refused', 'refused_at')
  set.closed = '0'
end

if limit > 0 and reset_in > 0 then
  local reported = now + reset_in
  local same = live and (guess or math.abs(reported - reset) <= tolerance)
  local newer = before and reported > before + tolerance
  if newer and succeeded and remaining > 0 and closed > now then
    -- The window of the 429 has ended.
    closed, opened = 0, true
    set.closed = '0'
  end
  if same or not live or reported > reset then
    -- Of one window the lower number is right: calls since the network counted are
    -- still in flight.
    if same and guess then
      left = math.min(limit - (tonumber(h[8]) or 0), remaining)
    else
      left = same and math.min(left, remaining) or remaining
    end
    left = math.max(left, 0)
    local period = tonumber(h[5]) or 0
    if trusted > 0 then
      period = trusted
    else
      -- A reset that moves before it is reached ends no period.
      if newer and before <= now + tolerance and (period == 0 or reported - before < period) then period = reported - before end
      if period > 0 and reset_in > period + tolerance then period = 0 end
    end
    learned, reset, guess = limit, reported, false
    set.left, set.limit, set.reset = string.format('%.0f', left), limit, string.format('%.3f', reported)
    set.guess, set.taken, set.reported, set.per = '0', same and h[8] or '0', set.reset, string.format('%.0f', period)
  elseif remaining == 0 and reported > closed then
    closed = reported
    set.closed = string.format('%.3f', closed)
  end
elseif limit > 0 and reset_in == 0 and per > 0 and tat < now + (limit - remaining) * per / limit then
  tat = now + (limit - remaining) * per / limit
  set.tat = string.format('%.3f', tat)
end

if next(set) == nil then
  return {}
end
local fields = {}
for name, value in pairs(set) do
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
redis.call('HSET', key, unpack(fields))
local ends = math.max(closed, reset or 0, tat) - now
if set.refused then
  ends = math.max(ends, 600000)
end
if learned then
  ends = math.max(ends, ttl)
end
redis.call('PEXPIRE', key, math.max(math.ceil(ends), 0) + 1000)

-- Posts that wait for a later time than is known now try again.
if not (learned or opened) then
  return {}
end
local from = math.max(closed, now)
if learned and left <= 0 and reset > from then
  from = reset
elseif learned and left > 0 then
  max_woken = math.min(max_woken, left)
end
local woken = redis.call('ZRANGEBYSCORE', KEYS[2], string.format('(%.0f', from + tolerance), '+inf', 'LIMIT', 0, max_woken)
if #woken > 0 then
  redis.call('ZREM', KEYS[2], unpack(woken))
end
return woken
