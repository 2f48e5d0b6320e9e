-- Adds ARGV[2i] hits to each key and returns the number of hits in its window,
-- which lasts ARGV[2i-1] milliseconds from the first hit. Every key has a TTL.
local counts = {}
for i, key in ipairs(KEYS) do
  counts[i] = redis.call('INCRBY', key, ARGV[2 * i])
  if counts[i] == tonumber(ARGV[2 * i]) then
    redis.call('PEXPIRE', key, ARGV[2 * i - 1])
  end
end
return counts
