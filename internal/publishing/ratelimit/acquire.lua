-- Acquires up to ARGV[1] tokens from all buckets of KEYS at once, and returns the
-- state of each. With 0 it only reads.
--
-- ARGV[2…]: per bucket its cost, declared limit, period in ms, and kind:
-- gcra, fixed, or none if the declared limit is not enforced.
--
-- A bucket is a hash:
--   closed    no call is allowed before
--   limit, left, reset    as the network reported, or as a fixed quota implies
--   per       the period, where it was reported or learned from two resets
--   taken     tokens that were acquired since the window started
--   guess     1: no report has confirmed the window yet
--   probes    how many times probes went out since the last report
--   refused, refused_at   429 responses without a time
--   tat       where no period is known, the theoretical arrival time of the
--             generic cell rate algorithm (ITU-T I.371)
-- Times are milliseconds by Redis's own clock.
--
-- After a reported reset, the whole limit is assumed to be available again. Only
-- the network knows how long that window is: without a period, a used-up limit is
-- followed by a few probes at growing intervals, until a response reports more.
--
-- Returns: granted, how long the next one waits, how much longer each further one,
-- which bucket is the reason; then per bucket limit, left, ms to the reset,
-- ms to the end of its closing, ms of its period (0: not known), 1 when the
-- network reported it.
local probeSize, probeInterval, maxProbeInterval = 3, 5000, 60000
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local want = tonumber(ARGV[1])
local granted, wait, step, reason = want, 0, 0, 0
local buckets = {}

for i, key in ipairs(KEYS) do
  local at = 2 + (i - 1) * 4
  local b = { cost = tonumber(ARGV[at]), limit = tonumber(ARGV[at + 1]), per = tonumber(ARGV[at + 2]), kind = ARGV[at + 3] }
  local h = redis.call('HMGET', key, 'closed', 'limit', 'left', 'reset', 'per', 'tat', 'guess', 'probes', 'taken', 'refused')
  b.closed = tonumber(h[1]) or 0
  local learned = tonumber(h[2])
  b.reported = learned ~= nil
  local room, free = want, now
  if learned or b.kind == 'fixed' then
    b.kind = 'period'
    b.limit = learned or b.limit
    if learned then b.per = tonumber(h[5]) or 0 end
    b.left, b.reset, b.taken = tonumber(h[3]), tonumber(h[4]), tonumber(h[9]) or 0
    b.guess, b.probes = h[7] == '1', tonumber(h[8]) or 0
    if not b.reset then
      b.left, b.reset, b.rolled = b.limit, (math.floor(now / b.per) + 1) * b.per, true
    elseif now >= b.reset then
      b.rolled = true
      if b.per > 0 then
        b.left, b.reset = b.limit, b.reset + (math.floor((now - b.reset) / b.per) + 1) * b.per
      else
        if b.guess then
          b.left = math.max(b.left, probeSize * b.cost)
          b.probes = b.probes + 1
        else
          b.left, b.probes = b.limit, 0
        end
        b.reset = now + math.min(probeInterval * 2 ^ b.probes, maxProbeInterval)
      end
    end
    if b.rolled then b.guess, b.taken = true, 0 end
    room, free = math.floor(b.left / b.cost), b.reset
  elseif b.kind == 'gcra' then
    b.tat = math.max(tonumber(h[6]) or 0, now)
    b.step = b.per / b.limit
    b.left = math.floor((now + b.per - b.tat) / b.step + 1e-6)
    room = math.floor(b.left / b.cost)
  end
  if b.closed > now then
    room, free, b.shut = 0, math.max(b.closed, room > 0 and 0 or free), true
  elseif h[10] then
    -- It got a 429 and no call has succeeded since: a few calls probe it.
    b.probing = true
    if room > probeSize then room, free, b.shut = probeSize, now + probeInterval, true end
  end
  b.room, b.free = math.max(room, 0), free
  granted = math.min(granted, b.room)
  buckets[i] = b
end

-- When the first of those without a token gets one.
for i, b in ipairs(buckets) do
  local free, more = b.free, 0
  if b.kind == 'gcra' and not b.shut then
    more = b.step * b.cost
    free = b.tat + (granted + 1) * more - b.per
  end
  if b.room <= granted and free - now > wait then
    wait, step, reason = free - now, more, i
  end
end

local result = { granted, math.ceil(wait), math.ceil(step), reason }
for i, key in ipairs(KEYS) do
  local b = buckets[i]
  if granted > 0 and b.probing then
    b.closed = now + probeInterval
    redis.call('HSET', key, 'closed', string.format('%.3f', b.closed))
  end
  if granted > 0 and b.kind == 'period' then
    b.left = b.left - granted * b.cost
    redis.call('HSET', key, 'left', string.format('%.0f', b.left), 'reset', string.format('%.3f', b.reset),
      'taken', string.format('%.0f', b.taken + granted * b.cost), 'guess', b.guess and '1' or '0', 'probes', b.probes)
    if not b.reported then
      redis.call('PEXPIRE', key, math.ceil(math.max(b.reset, b.closed) - now) + 1000)
    end
  elseif granted > 0 and b.kind == 'gcra' then
    b.tat = b.tat + granted * b.cost * b.step
    b.left = b.left - granted * b.cost
    redis.call('HSET', key, 'tat', string.format('%.3f', b.tat))
    redis.call('PEXPIRE', key, math.ceil(math.max(b.tat, b.closed) - now) + 1000)
  end
  local n = #result
  result[n + 1] = b.limit
  result[n + 2] = b.left or -1
  result[n + 3] = b.reset and (b.per > 0 or not b.guess) and math.ceil(b.reset - now) or 0
  result[n + 4] = math.max(math.ceil(b.closed - now), 0)
  result[n + 5] = math.ceil(b.per)
  result[n + 6] = b.reported and 1 or 0
end
return result
