-- Counts a hit of each key and says how many there are in its window, which
-- begins with the first. A key never stays without an end.
local counts = {}
for i, key in ipairs(KEYS) do
  counts[i] = redis.call('INCR', key)
  if counts[i] == 1 then
    redis.call('PEXPIRE', key, ARGV[i])
  end
end
return counts
