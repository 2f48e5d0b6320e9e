-- Adds the totals from Postgres to pages after Redis lost them, once per page.
-- KEYS[1]: the shard's log, for routing. ARGV: the key suffix of all-time
-- HyperLogLogs, then per page: key, sketch, n, n times: field, count.
-- Returns the number of seeded pages.

local call = redis.call
local tag = string.sub(KEYS[1], 1, 5)
if call('HEXISTS', tag .. 'state', 'seeded') == 1 then return 0 end
local seeded = 0
local i = 2
while i <= #ARGV do
  local page, sketch, n = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  if call('HSETNX', page .. ':t', 's', 1) == 1 then
    seeded = seeded + 1
    for j = i + 3, i + 2 + 2 * n, 2 do call('HINCRBY', page .. ':t', ARGV[j], ARGV[j + 1]) end
    if sketch ~= '' then
      call('SET', tag .. 'sketch', sketch)
      call('PFMERGE', page .. ARGV[1], page .. ARGV[1], tag .. 'sketch')
      call('DEL', tag .. 'sketch')
    end
  end
  i = i + 3 + 2 * n
end
return seeded
