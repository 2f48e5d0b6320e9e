-- Applies summaries to the pages' hashes and the site's rankings, and queues them
-- for the next flush.
--
-- KEYS[1]: the shard's list of summaries; its first entry is applied.
-- ARGV: the expected number of the shard's last change, the current time, the
-- half-life of the ranking of current views, the maximum number of pages per ranking,
-- the maximum number of referrers and of reasons per page. Then sites:
--   the site's key, the start of an hour on its clock (in quarters)
--   n, n times: a day, its visitors (8 bytes each)
--   number of pages
-- and their pages:
--   the page's key, the letter of its unique counting method,
--   numbers of eight bytes each, in one string, because each argument costs:
--     numbers of days with views, days with visitors for a HyperLogLog, fields, minutes,
--     and reasons
--     the days with views, ascending
--     the days with visitors
--     the increments of the fields
--     for each minute: its number, the second of its last view, its views
--     the filtered hits by reason
--   for each day with visitors: the visitors (8 bytes each), and their registers for a
--     list; '' if they are too many for one: see sketch.lua
--   the fields, distinct
--   the reasons
--
-- Returns the length of the list of deltas, or -1 if another process changed the
-- shard first. Fields and pages share commands because a Redis call costs more
-- than the work it does.

local call, byte = redis.call, string.byte
local tag = string.sub(KEYS[1], 1, 5)
local state = tag .. 'state'
if (call('HGET', state, 'change') or '0') ~= ARGV[1] then return -1 end
call('HINCRBY', state, 'change', 1)
call('LMOVE', KEYS[1], tag .. 'deltas', 'LEFT', 'RIGHT')

local now, half, maxPages = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local maxReferrers, maxReasons = tonumber(ARGV[5]), tonumber(ARGV[6])
local aDay, aWeek = 86400, 604800
local minute = math.floor(now / 60)

-- number parses a score. Miniredis' Lua parses large numbers only with a decimal
-- point.
local function number(score)
  return tonumber(score) or tonumber((string.gsub(score, 'e', '.0e', 1))) or tonumber(score .. '.0')
end

-- text caches integers as strings: Redis formats Lua numbers slowly.
local text = setmetatable({}, { __index = function(all, n)
  local made = string.format('%d', n)
  all[n] = made
  return made
end })

-- rescale moves the rankings' reference time before their weights overflow.
local function rescale(from, ...)
  local n = (now - from) / half
  if n < 200 then return from end
  for _, key in ipairs({ ... }) do
    if call('EXISTS', key) == 1 then call('ZUNIONSTORE', key, 1, key, 'WEIGHTS', string.format('%.17g', 2 ^ -n)) end
  end
  return now
end

-- deleteExpired deletes the fields of hours and days that are past retention.
local function deleteExpired(totals, today)
  local expired = {}
  local hours, days = (math.floor(now / 900) - 48 * 4) * 4, (today - 35) * 4
  for _, field in ipairs(call('HKEYS', totals)) do
    local n = tonumber(field)
    if n and (n >= 1000000 and n < hours or n < 1000000 and n < days) then expired[#expired + 1] = field end
  end
  if #expired > 0 then call('HDEL', totals, unpack(expired)) end
end

-- dropReferrers merges all but the most frequent referrers into 'other'.
local function dropReferrers(totals)
  local all, found = call('HGETALL', totals), {}
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, 1) == 'r' and all[i] ~= 'rother' then found[#found + 1] = { all[i], tonumber(all[i + 1]) } end
  end
  table.sort(found, function(a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  local rare = 0
  for i = maxReferrers + 1, #found do
    rare = rare + found[i][2]
    call('HDEL', totals, found[i][1])
  end
  call('HINCRBY', totals, 'rother', rare)
  call('HSET', totals, 'R', math.min(#found, maxReferrers))
end

-- mergeDay merges a day's HyperLogLog into the all-time one.
local function mergeDay(page, d)
  call('PFMERGE', page .. ':uH', page .. ':uH', page .. ':' .. d .. 'dH')
  call('EXPIRE', page .. ':' .. d .. 'dH', 9 * aDay)
end

-- startDay records that a page has views on a day and sets the TTLs of the day's
-- keys. A day's HyperLogLog is merged when the page's next day starts, or at once
-- if that has started. Returns the page's latest day.
local function startDay(page, method, hasSketches, d, latest)
  if method ~= 'H' then
    call('EXPIRE', page .. ':' .. d .. 'd' .. method, 9 * aDay)
    call('EXPIRE', page .. ':' .. math.floor((d + 3) / 7) .. 'w' .. method, 9 * aDay)
    call('EXPIRE', page .. ':' .. math.floor(d / 15) .. 'u' .. method, (30 - d % 15) * aDay)
  end
  if latest and d < latest then
    if hasSketches then mergeDay(page, d) end
    return latest
  end
  if latest then
    if hasSketches then mergeDay(page, latest) end
    deleteExpired(page .. ':t', d)
  end
  return d
end

-- addTo increments fields of a hash or members of a ranking and returns their
-- previous values; false for new ones.
local function addTo(get, set, key, names, added)
  local old, sets = call(get, key, unpack(names)), {}
  for k, name in ipairs(names) do
    old[k] = old[k] and number(old[k])
    local sum = (old[k] or 0) + added[k]
    added[k] = sum
    if sum < 1e9 and sum % 1 == 0 then sum = text[sum] else sum = string.format('%.12g', sum) end
    if set == 'ZADD' then
      sets[2 * k - 1], sets[2 * k] = sum, name
    else
      sets[2 * k - 1], sets[2 * k] = name, sum
    end
  end
  call(set, key, unpack(sets))
  return old
end

-- numbersIn returns the numbers in a string.
local formats = {}
local function numbersIn(s)
  local n = #s / 8
  if n <= 1000 then
    formats[n] = formats[n] or '>' .. string.rep('I8', n)
    return { struct.unpack(formats[n], s) }
  end
  local numbers = {} -- unpack is limited to some thousand values
  for k = 1, n do numbers[k] = struct.unpack('>I8', s, 8 * k - 7) end
  return numbers
end

-- addFiltered adds filtered hits by n reasons, of which the first is ARGV[from], to the
-- counts for the next flush, one JSON object per page. The first count is numbers[at].
local function addFiltered(page, n, from, numbers, at)
  local stored = call('HGET', tag .. 'filtered', page)
  local reasons, different = stored and cjson.decode(stored) or {}, 0
  for _ in pairs(reasons) do different = different + 1 end
  for k = 0, n - 1 do
    local reason = ARGV[from + k]
    if not reasons[reason] then
      if different >= maxReasons then reason = 'other' end
      different = different + 1
    end
    reasons[reason] = (reasons[reason] or 0) + numbers[at + k]
  end
  call('HSET', tag .. 'filtered', page, cjson.encode(reasons))
end

-- addVisitors adds visitors of 8 bytes each to a HyperLogLog.
local function addVisitors(sketch, all)
  for from = 1, #all, 4000 do -- unpack is limited to some thousand values
    local visitors = {}
    for at = from, math.min(from + 3999, #all), 8 do visitors[#visitors + 1] = string.sub(all, at, at + 7) end
    call('PFADD', sketch, unpack(visitors))
  end
end

-- addPageVisitors adds the visitors of n days to the page's list of registers, or to its
-- HyperLogLogs. The first day is numbers[at], and its visitors are ARGV[from]. list is
-- the field of the page's hash, and latest its latest day. Returns the new value of the
-- field.
local function addPageVisitors(page, list, latest, n, from, numbers, at)
  local known = list ~= '' and list
  -- Versions without lists have counted pages that have a day or were seeded.
  if not list and not latest and call('HEXISTS', page .. ':t', 's') == 0 then known = '' end
  local longer = known
  for j = from + 1, from + 2 * n - 1, 2 do longer = longer and ARGV[j] ~= '' and addRegisters(longer, ARGV[j]) end
  if longer then return longer end
  if known and known ~= '' then storeSketches(page, known, latest, now) end
  for k = 0, n - 1 do addVisitors(page .. ':' .. text[numbers[at + k]] .. 'dH', ARGV[from + 2 * k]) end
  return ''
end

-- Rising compares current views with those of the last 24 hours. A page with this many
-- more would have to have more current ones, so that a few do not lead.
local usualViews = 15

local i, last = 7, #ARGV
while i <= last do
  local site, quarters, siteDays = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  i = i + 3
  for _ = 1, siteDays do
    local sketch = site .. ';' .. ARGV[i] .. 'V'
    addVisitors(sketch, ARGV[i + 1])
    call('EXPIRE', sketch, 9 * aDay)
    i = i + 2
  end
  local pages = tonumber(ARGV[i])
  i = i + 1
  local meta, nowKey, riseKey, hourKey, dayKey = site .. ';meta', site .. ';now', site .. ';rise', site .. ';hour', site .. ';day'
  local known = call('HMGET', meta, 'f', 'm', 'q')
  local reference = rescale(tonumber(known[1] or now), nowKey, riseKey)
  local first = tonumber(known[2] or minute - 59)
  if tonumber(known[1]) ~= reference or tonumber(known[3]) ~= quarters then call('HSET', meta, 'f', reference, 'm', first, 'q', quarters) end
  -- For pages with views: their names and their ranking increments.
  local names, current = {}, {}
  local isFresh = {} -- pages that had no other views on the days of the last 24 hours
  local hour, day = { names = {}, added = {} }, { names = {}, added = {} }
  local minutes = {}
  for _ = 1, pages do
    local page, method = ARGV[i], ARGV[i + 1]
    local totals, numbers = page .. ':t', numbersIn(ARGV[i + 2])
    local days, visitorDays, fields, n, filtered = unpack(numbers, 1, 5)
    local at = 5 -- before the next number
    local visitors = i + 3
    i = visitors + 2 * visitorDays
    local before, total
    if fields > 0 then
      local old, sets = call('HMGET', totals, 'D', 'R', 'v', 'H', unpack(ARGV, i, i + fields - 1)), { totals }
      local latest, referrers, list = old[1] and tonumber(old[1]), 0, old[4] or ''
      before, total = latest, old[3]
      if visitorDays > 0 then
        list = addPageVisitors(page, old[4], before, visitorDays, visitors, numbers, at + days + 1)
      end
      local hasSketches = method == 'H' and list == ''
      for k = at + 1, at + days do
        if latest ~= numbers[k] then
          latest = startDay(page, method, hasSketches, numbers[k], latest)
          sets[2], sets[3] = 'D', text[latest]
        end
      end
      local size, increment = #sets, at + days + visitorDays
      for k = 1, fields do
        local field, stored, more = ARGV[i + k - 1], old[k + 4], numbers[increment + k]
        if not stored and byte(field) == 114 and field ~= 'rother' then referrers = referrers + 1 end
        sets[size + 1], sets[size + 2] = field, text[stored and stored + more or more]
        size = size + 2
      end
      if visitorDays > 0 and list ~= old[4] then
        sets[size + 1], sets[size + 2] = 'H', list
        size = size + 2
      end
      if referrers > 0 then
        referrers = referrers + (old[2] or 0)
        sets[size + 1], sets[size + 2] = 'R', text[referrers]
        size = size + 2
      end
      call('HSET', unpack(sets, 1, size))
      if referrers > 2 * maxReferrers then dropReferrers(totals) end
    end
    local firstDay = numbers[at + 1]
    at = at + days + visitorDays + fields
    i = i + fields
    if n > 0 then
      local name = string.sub(page, #site + 2)
      local decayed, lastHour, lastDay, all = 0, 0, 0, 0
      for j = at + 1, at + 3 * n, 3 do
        local at, second, views = unpack(numbers, j, j + 2)
        all = all + views
        decayed = decayed + views * 2 ^ ((second - reference) / half)
        if at >= first and at > minute - 60 then
          lastHour = lastHour + views
          local key = site .. ';m' .. text[at]
          local one = minutes[key]
          if not one then
            one = { names = {}, added = {} }
            minutes[key] = one
          end
          one.names[#one.names + 1] = name
          one.added[#one.added + 1] = views
        end
        if second > now - 86400 then lastDay = lastDay + views end
      end
      local k = #names + 1
      names[k], current[k] = name, decayed
      isFresh[name] = before and days > 0 and before < firstDay - 1 or
        not before and total and tonumber(total) == all
      if lastHour > 0 then
        hour.names[#hour.names + 1] = name
        hour.added[#hour.added + 1] = lastHour
      end
      if lastDay > 0 then
        day.names[#day.names + 1] = name
        day.added[#day.added + 1] = lastDay
      end
    end
    at = at + 3 * n + 1
    if filtered > 0 then addFiltered(page, filtered, i, numbers, at) end
    i = i + filtered
  end
  if #names > 0 then
    addTo('ZMSCORE', 'ZADD', nowKey, names, current)
    if #hour.names > 0 then addTo('ZMSCORE', 'ZADD', hourKey, hour.names, hour.added) end
    for key, one in pairs(minutes) do
      addTo('HMGET', 'HSET', key, one.names, one.added)
      call('EXPIRE', key, 6 * 3600)
    end
    local views = {} -- of the last 24 hours
    if #day.names > 0 then
      local old = addTo('ZMSCORE', 'ZADD', dayKey, day.names, day.added)
      for k, name in ipairs(day.names) do
        views[name] = day.added[k]
        if not old[k] and not isFresh[name] then
          -- New in the ranking, or back in it: sum up its last 24 hours.
          local sum, hours = 0, {}
          for h = 0, 23 do hours[h + 1] = (quarters - 4 * h) * 4 end
          for _, n in ipairs(call('HMGET', site .. ':' .. name .. ':t', unpack(hours))) do sum = sum + (n or 0) end
          if sum > 0 then call('ZADD', dayKey, sum, name) else call('ZREM', dayKey, name) end
          views[name] = sum
        end
      end
    end
    local least, rising = 3 * 2 ^ ((now - reference) / half), {}
    for k, name in ipairs(names) do
      if current[k] >= least then
        rising[#rising + 1] = string.format('%.6g', current[k] / ((views[name] or 0) + usualViews))
        rising[#rising + 1] = name
      end
    end
    if #rising > 0 then call('ZADD', riseKey, unpack(rising)) end
    for _, key in ipairs({ nowKey, riseKey, dayKey }) do
      if call('ZCARD', key) > maxPages * 1.25 then call('ZREMRANGEBYRANK', key, 0, -maxPages - 1) end
      call('EXPIRE', key, 2 * aDay)
    end
    call('EXPIRE', hourKey, 3 * 3600)
    call('ZADD', tag .. 'sites', minute, site)
    call('EXPIRE', tag .. 'sites', aWeek)
  end
  call('EXPIRE', meta, 3 * aDay)
end
return call('LLEN', tag .. 'deltas')
