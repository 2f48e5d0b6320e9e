-- Adds the totals from Postgres to pages after Redis lost them, once per page.
-- KEYS[1]: the shard's log, for routing. ARGV: the current time, then per page: key,
-- all-time HyperLogLog, its registers for a list or '' if they are too many (see
-- sketch.lua), n, n times: field, count.
-- Returns the number of seeded pages.

local call = redis.call
local tag = string.sub(KEYS[1], 1, 5)
if call('HEXISTS', tag .. 'state', 'seeded') == 1 then return 0 end
local seeded = 0
local now, i = tonumber(ARGV[1]), 2

-- seedVisitors adds the visitors of all time to those of a page since the loss.
local function seedVisitors(page, sketch, registers)
  local known = call('HMGET', page .. ':t', 'H', 'D')
  local list, latest = known[1], known[2]
  if registers ~= '' and (list and list ~= '' or not latest) then
    local longer = addRegisters(list or '', registers)
    if longer then
      call('HSET', page .. ':t', 'H', longer)
      return
    end
  end
  if list and list ~= '' then storeSketches(page, list, tonumber(latest), now) end
  call('HSET', page .. ':t', 'H', '')
  call('SET', tag .. 'sketch', sketch)
  call('PFMERGE', page .. ':uH', page .. ':uH', tag .. 'sketch')
  call('DEL', tag .. 'sketch')
end

while i <= #ARGV do
  local page, sketch, n = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 3])
  if call('HSETNX', page .. ':t', 's', 1) == 1 then
    seeded = seeded + 1
    for j = i + 4, i + 3 + 2 * n, 2 do call('HINCRBY', page .. ':t', ARGV[j], ARGV[j + 1]) end
    if sketch ~= '' then seedVisitors(page, sketch, ARGV[i + 2]) end
  end
  i = i + 4 + 2 * n
end
return seeded
