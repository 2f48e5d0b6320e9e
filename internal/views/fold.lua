-- Folds hits, added up by page, into the pages' hashes and the site's rankings,
-- and hands them to the flush.
-- KEYS[1]: the shard's list of what is added up. ARGV: the number of the shard's
-- last change, what the flush gets of the list's first entry, now, the
-- half-lives of the fast and the slow ranking, how many pages a ranking keeps,
-- how many referrers and reasons a page, then sites:
--   the site's key, an hour of its clock (in quarters), number of pages
-- and its pages, each:
--   the page's key, its way of counting visitors,
--   n, n times: a day with views, in order
--   n, n times: a day, m, m visitors, where they go into a HyperLogLog
--   n, n times: field, how many
--   n, n times: minute, second, how many views
--   n, n times: reason, how many filtered
-- Answers how long the list of deltas is, or -1 if somebody else was faster.

local call = redis.call
local tag = string.sub(KEYS[1], 1, 5)
local state = tag .. 'state'
if (call('HGET', state, 'change') or '0') ~= ARGV[1] then return -1 end
call('HINCRBY', state, 'change', 1)
call('LPOP', KEYS[1])
local deltas = call('RPUSH', tag .. 'deltas', ARGV[2])

local now, fast, slow, most = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local keptReferrers, keptReasons = tonumber(ARGV[7]), tonumber(ARGV[8])
local day, week = 86400, 604800
local minute = math.floor(now / 60)

-- number reads a score. The Lua of miniredis reads large numbers only when they
-- have a point.
local function number(score)
  return tonumber(score) or tonumber((string.gsub(score, 'e', '.0e', 1))) or tonumber(score .. '.0')
end

-- rescale moves a ranking's landmark long before its weights are too large.
local function rescale(key, rise, from, half, sign)
  local n = (now - from) / half
  if n < 200 then return from end
  if call('EXISTS', key) == 1 then call('ZUNIONSTORE', key, 1, key, 'WEIGHTS', string.format('%.17g', 2 ^ -n)) end
  if call('EXISTS', rise) == 1 then call('ZUNIONSTORE', rise, 1, rise, 'WEIGHTS', string.format('%.17g', 2 ^ (sign * n))) end
  return now
end

-- tidy drops hours and days that are long over.
local function tidy(totals, today)
  local old = {}
  local hours, days = (math.floor(now / 900) - 48 * 4) * 4, (today - 35) * 4
  for _, field in ipairs(call('HKEYS', totals)) do
    local n = tonumber(field)
    if n and (n >= 1000000 and n < hours or n < 1000000 and n < days) then old[#old + 1] = field end
  end
  if #old > 0 then call('HDEL', totals, unpack(old)) end
end

-- newReferrer keeps the most frequent referrers once there are too many.
local function newReferrer(totals)
  if call('HINCRBY', totals, 'R', 1) <= 2 * keptReferrers then return end
  local all, found = call('HGETALL', totals), {}
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 1) == 'r' and all[i] ~= 'rother' then found[#found + 1] = { all[i], tonumber(all[i + 1]) } end
  end
  table.sort(found, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  local rare = 0
  for i = keptReferrers + 1, #found do
    rare = rare + found[i][2]
    call('HDEL', totals, found[i][1])
  end
  call('HINCRBY', totals, 'rother', rare)
  call('HSET', totals, 'R', math.min(#found, keptReferrers))
end

-- begin notes that a page has views of a day. What only that day or its week
-- needs expires; a HyperLogLog is part of all time until it is merged, which
-- happens when the page's next day begins, or at once if that has begun.
local function over(page, d)
  call('PFMERGE', page .. ':uH', page .. ':uH', page .. ':' .. d .. 'dH')
  call('EXPIRE', page .. ':' .. d .. 'dH', 9 * day)
end
local function begin(page, way, d, latest)
  if way ~= 'H' then
    call('EXPIRE', page .. ':' .. d .. 'd' .. way, 9 * day)
    call('EXPIRE', page .. ':' .. math.floor((d + 3) / 7) .. 'w' .. way, 9 * day)
  end
  if latest and d < latest then
    if way == 'H' then over(page, d) end
    return latest
  end
  if latest then
    if way == 'H' then over(page, latest) end
    tidy(page .. ':t', d)
  end
  call('HSET', page .. ':t', 'D', d)
  return d
end

local i, last = 9, #ARGV
while i <= last do
  local site, quarters, pages = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  i = i + 3
  local meta, nowKey, slowKey, riseKey = site .. ';meta', site .. ';now', site .. ';slow', site .. ';rise'
  local hourKey, dayKey = site .. ';hour', site .. ';day'
  local known = call('HMGET', meta, 'f', 's', 'm')
  local f, s = tonumber(known[1] or now), tonumber(known[2] or now)
  local f2, s2 = rescale(nowKey, riseKey, f, fast, -1), rescale(slowKey, riseKey, s, slow, 1)
  local first = tonumber(known[3] or minute - 59)
  if not known[1] or f2 ~= f or s2 ~= s then call('HSET', meta, 'f', f2, 's', s2, 'm', first) end
  f, s = f2, s2
  call('HSET', meta, 'q', quarters)
  local slowNow = 2 ^ ((now - s) / slow)
  local fastNow = 2 ^ ((now - f) / fast)
  local minutes, viewed = {}, false
  for _ = 1, pages do
    local page, way = ARGV[i], ARGV[i + 1]
    local totals = page .. ':t'
    local name = string.sub(page, #site + 2)
    i = i + 3
    local days, at = tonumber(ARGV[i - 1]), i
    i = i + days + 1
    for _ = 1, tonumber(ARGV[i - 1]) do
      local n = tonumber(ARGV[i + 1])
      for j = i + 2, i + 1 + n, 500 do -- unpack has a limit
        call('PFADD', page .. ':' .. ARGV[i] .. 'dH', unpack(ARGV, j, math.min(j + 499, i + 1 + n)))
      end
      i = i + 2 + n
    end
    if days > 0 then
      local latest = call('HGET', totals, 'D')
      for j = at, at + days - 1 do
        if latest ~= ARGV[j] then latest = begin(page, way, tonumber(ARGV[j]), latest and tonumber(latest)) end
      end
    end
    i = i + 1
    for j = i, i + 2 * tonumber(ARGV[i - 1]) - 1, 2 do
      local n = call('HINCRBY', totals, ARGV[j], ARGV[j + 1])
      if n == tonumber(ARGV[j + 1]) and string.byte(ARGV[j]) == 114 and ARGV[j] ~= 'rother' then newReferrer(totals) end
    end
    i = i + 2 * tonumber(ARGV[i - 1]) + 1
    local views = 0
    for j = i, i + 3 * tonumber(ARGV[i - 1]) - 1, 3 do
      local at, second, n = tonumber(ARGV[j]), tonumber(ARGV[j + 1]), tonumber(ARGV[j + 2])
      local a = number(call('ZINCRBY', nowKey, n * 2 ^ ((second - f) / fast), name))
      local b = number(call('ZINCRBY', slowKey, n * 2 ^ ((second - s) / slow), name))
      if a >= 3 * fastNow then call('ZADD', riseKey, a / (b + 5 * slowNow), name) end
      if at >= first and at > minute - 60 then
        call('ZINCRBY', hourKey, n, name)
        call('HINCRBY', site .. ';m' .. at, name, n)
        minutes[ARGV[j]] = true -- a string: a table of large numbers may be made as an array
      end
      if second > now - day then views = views + n end
      viewed = true
    end
    i = i + 3 * tonumber(ARGV[i - 1]) + 1
    if views > 0 and number(call('ZINCRBY', dayKey, views, name)) == views then
      -- New in the ranking, or back in it: its last 24 hours.
      local sum, hours = 0, {}
      for h = 0, 23 do hours[h + 1] = (quarters - 4 * h) * 4 end
      for _, n in ipairs(call('HMGET', totals, unpack(hours))) do sum = sum + (n or 0) end
      if sum > 0 then call('ZADD', dayKey, sum, name) else call('ZREM', dayKey, name) end
    end
    local refused = page .. ':f'
    for j = i, i + 2 * tonumber(ARGV[i - 1]) - 1, 2 do
      local reason = ARGV[j]
      if call('HEXISTS', refused, reason) == 0 and call('HLEN', refused) >= keptReasons then reason = 'other' end
      call('HINCRBY', refused, reason, ARGV[j + 1])
      call('EXPIRE', refused, 8 * day)
    end
    i = i + 2 * tonumber(ARGV[i - 1])
  end
  if viewed then
    for _, key in ipairs({ nowKey, slowKey, riseKey, dayKey }) do
      if call('ZCARD', key) > most * 1.25 then call('ZREMRANGEBYRANK', key, 0, -most - 1) end
      call('EXPIRE', key, 2 * day)
    end
    call('EXPIRE', hourKey, 3 * 3600)
    for at in pairs(minutes) do call('EXPIRE', site .. ';m' .. at, 6 * 3600) end
    call('ZADD', tag .. 'sites', minute, site)
    call('EXPIRE', tag .. 'sites', week)
  end
  call('EXPIRE', meta, 3 * day)
end
return deltas
