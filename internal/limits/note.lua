-- Corrects one bucket, KEYS[1], by what the network said (see take.lua).
--
-- ARGV: limit (0: not said), remaining, ms until the reset (0: not said), ms for
-- which the bucket is closed (0: it is not), the declared period in ms (0:
-- unknown), permits to give back and the declared limit, and how long a reported
-- limit is remembered, in ms.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local key = KEYS[1]
local limit, remaining, reset_in, closed_in = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local per, back, back_limit, memory = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local h = redis.call('HMGET', key, 'closed', 'limit', 'left', 'reset', 'per', 'tat', 'guess')
local closed, left, reset, tat = tonumber(h[1]) or 0, tonumber(h[3]), tonumber(h[4]), tonumber(h[6]) or 0
local live = reset ~= nil and reset > now
local set = {}

if back > 0 and live then
  left = math.min(left + back, tonumber(h[2]) or back_limit)
  set.left = string.format('%.0f', left)
elseif back > 0 and tat > now and per > 0 and back_limit > 0 then
  tat = tat - back * per / back_limit
  set.tat = string.format('%.3f', tat)
end

if closed_in > 0 and now + closed_in > closed then
  closed = now + closed_in
  set.closed = string.format('%.3f', closed)
end

if limit > 0 and reset_in > 0 then
  local said = now + reset_in
  -- Resets are said in whole seconds and by another clock.
  local same = live and (h[7] == '1' or math.abs(said - reset) <= 2000)
  if same or not live or said > reset then
    -- Of one period the lower number is right: what was taken since the network
    -- counted is still on its way to it.
    set.left = string.format('%.0f', same and math.min(left, remaining) or remaining)
    set.limit, set.reset, set.guess = limit, string.format('%.3f', said), '0'
    set.per = string.format('%.0f', per > 0 and per or math.max(tonumber(h[5]) or 0, reset_in))
    reset = said
  elseif remaining == 0 and said > closed then
    closed = said
    set.closed = string.format('%.3f', closed)
  end
elseif limit > 0 and per > 0 and tat < now + (limit - remaining) * per / limit then
  tat = now + (limit - remaining) * per / limit
  set.tat = string.format('%.3f', tat)
end

if next(set) == nil then
  return 0
end
local fields = {}
for name, value in pairs(set) do
  fields[#fields + 1] = name
  fields[#fields + 1] = value
end
redis.call('HSET', key, unpack(fields))
local ends = math.max(closed, reset or 0, tat) - now
if set.limit or h[2] then
  ends = math.max(ends, memory)
end
redis.call('PEXPIRE', key, math.max(math.ceil(ends), 0) + 1000)
return 1
