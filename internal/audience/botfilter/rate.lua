-- Adds ARGV[2i] hits to each key and says how many there are in its window,
-- which is ARGV[2i-1] milliseconds long and begins with the first. A key never
-- stays without an end.
local counts = {}
for i, key in ipairs(KEYS) do
  counts[i] = redis.call('INCRBY', key, ARGV[2 * i])
  if counts[i] == tonumber(ARGV[2 * i]) then
    redis.call('PEXPIRE', key, ARGV[2 * i - 1])
  end
end
return counts
