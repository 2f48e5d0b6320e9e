-- Counts the hits of one shard, or of all shards when one node owns them.
--
-- KEYS[1]: the shard's log.
-- ARGV[1]: the key that stores the reply for a resend, or ''.
-- Then, per group of hits that share their settings:
--   kind, n, the log entry of the n hits; p and m are views that are also page loads
-- and, if the kind is e (page loads, for visits) or q (views that were read for so
-- long that their visit is no bounce):
--   minute       of the hour
--   epoch, previous, life, slot, window, fingerprints, octals: see below
--   views        of kind q: n times 8 bytes: keys of the views; or ''
-- and, if the kind is h (heartbeat):
--   site         key prefix of the site
--   epoch        the current epoch of views in progress
--   midnight     when the day of the heartbeats began
--   now
--   views        n times 8 bytes: keys of the views
--   levels       n times 3 characters: engaged level, scroll level, 1 if hidden
-- and, unless the kind is f (filtered), e, q or h:
--   method       letter of the method that counts unique visitors, or ''
--   epoch        key prefix of the current dedup epoch
--   previous     key prefix of the epoch before it
--   life         TTL of the epoch's keys in seconds
--   slot, window the hit's slot (modulo 128) and the dedup window in slots
--   day, week, halfMonth, previousHalfMonth
--                suffixes of the visitor keys
--   entries      n times 5 bytes: the hit's entry, if it counts and is a funnel step;
--                if the kind is p or m, 5 more: the entry of a visit that starts
--   octals       n times 8 octal digits
--   minute       of the hour
--   pageOf       n bytes: the index of each hit's page
--   viewEpoch    the epoch of views in progress
--   s, s times: the views of a site that send heartbeats
--     site       key prefix of the site
--     hits       a byte per view: the index of its hit
--     views      13 bytes per view: its key and first state
--   m, m keys of pages' hashes
--   n visitors, if the method stores them
--
-- Returns one string with the replies to the groups. That to heartbeats has a character
-- per heartbeat: 1 if its view is known. That to other hits, unless they are of kind f, e
-- or q, has the flags of the log, if the method stores visitors a character per hit, 1 if
-- the visitor is new, and 8 bytes per page: its total. Arguments and fields are shared
-- between hits because a Redis call, and each string passed to Lua, costs more than the
-- counting itself.

local call, sub, byte, char, find, concat = redis.call, string.sub, string.byte, string.char, string.find, table.concat

-- cut returns the first bytes of each of n parts of a string.
local function cut(s, n, length, partLength)
  return { struct.unpack(string.rep('c' .. length .. string.rep('x', partLength - length), n), s) }
end

-- text caches integers as strings: Redis formats Lua numbers slowly.
local text = setmetatable({}, { __index = function(all, n)
  local made = string.format('%d', n)
  all[n] = made
  return made
end })

local replyKey = ARGV[1]
if replyKey ~= '' then
  local reply = call('GET', replyKey)
  if reply then return reply end
end

-- Dedup: a visit is identified by a 4-byte fingerprint and eight octal digits. An
-- epoch of 60 slots stores its visits in hashes; new visits go to the newest hash.
-- The digits belong to the visitor and the site, so that a view and the visit to the
-- site are in the same field. A hash's fields are named by the first octal digits. How many digits each hash
-- uses is listed in the epoch's n key. A field holds 5 bytes per visit: the
-- fingerprint and a stamp, which is the slot modulo 128, plus 128 if the visit was
-- a funnel step, or if a visit to the site had a second page load. The last bit of
-- the fingerprint of a visit to the site is 1 if one of its views was read for long.
-- Only the current and the previous epoch matter for dedup.
local funnelSlots = 60
local siteWindow = 30 -- slots: how long a visit to the site lasts, if an epoch is two windows long
-- Short fields are faster: Lua hashes every byte of a string.
local minDigits, maxDigits = 6, 8 -- digits
-- Visits per field at the end of an epoch; bytes in the longest field before a new hash.
local targetHits, splitSize = 16, 240

local function startEpochHash(epoch, life, digits)
  call('SET', epoch .. 'n', digits, 'EX', life)
  local hash = epoch .. #digits
  call('HSET', hash, '', '')
  call('EXPIRE', hash, life)
end

-- averageSize returns the average number of bytes per field of a hash, from a sample.
local function averageSize(hash, width)
  local bytes = 0
  for digit = 0, 7 do bytes = bytes + call('HSTRLEN', hash, string.rep(digit, width)) end
  return bytes / 8
end

-- open returns the hashes to search, the newest of the epoch first.
local function open(epoch, previous, life)
  local known = call('MGET', epoch .. 'n', previous .. 'n')
  local digits, previousDigits = known[1], known[2]
  if not digits then
    digits = tostring(minDigits)
    if previousDigits then
      -- Estimate the width from a sample of the previous epoch's fields.
      local hits, n = 0, 3
      for g = 1, #previousDigits do
        local width = byte(previousDigits, g) - 48
        hits = hits + averageSize(previous .. g, width) / 5 * 8 ^ width
      end
      while n < maxDigits and hits > targetHits * 8 ^ n do n = n + 1 end
      digits = tostring(n)
    end
    startEpochHash(epoch, life, digits)
  end
  local hashes = {}
  for g = #digits, 1, -1 do hashes[#hashes + 1] = { epoch .. g, byte(digits, g) - 48 } end
  for g = previousDigits and #previousDigits or 0, 1, -1 do
    hashes[#hashes + 1] = { previous .. g, byte(previousDigits, g) - 48 }
  end
  return hashes, digits
end

local out, log = {}, { KEYS[1] }

-- Views in progress: a hash by site and epoch of 15 minutes. The value of a view
-- has five bytes: its second in the epoch (two of them), its engaged level (0 to 24)
-- * 5 + its scroll level (0 to 4), and the second in the epoch of its last heartbeat
-- + 1 (two of them), or 0 if it is not being read. The third byte is 255 if the
-- view's hit was a duplicate. A site's views beyond maxViews in an epoch are not
-- measured.
local viewEpoch, viewEpochs, maxViews, unmeasured = 900, 4, 250000, 255
local stateSize = 5
-- Views being read: a hash by site with their number by the second of their last
-- heartbeat. A view that sends another one, or is hidden, leaves its second. Seconds
-- before the window are deleted when there are more than maxSeconds: Redis stores
-- small hashes in a compact form.
local readingWindow, maxSeconds = 75, 110
local logRatio = math.log(1800) / 24

-- startViews stores views of n of the hits, unless they are duplicates with a known
-- view.
local function startViews(site, epoch, hits, views, flags)
  local key, n, added = site .. ';w' .. epoch, #hits, 0
  if call('HLEN', key) < maxViews then
    local all = { struct.unpack(string.rep('c8c' .. stateSize, n), views) }
    for k = 1, n do
      local view, state = all[2 * k - 1], all[2 * k]
      if flags[byte(hits, k)] ~= '-' then
        all[2 * added + 1], all[2 * added + 2] = view, state
        added = added + 1
      else
        call('HSETNX', key, view, sub(state, 1, 2) .. char(unmeasured) .. sub(state, 4))
      end
    end
    if added > 0 then call('HSET', key, unpack(all, 1, 2 * added)) end
  end
  call('EXPIRE', key, (viewEpochs + 1) * viewEpoch)
end

-- findViews returns the states of n views and their epochs.
local function findViews(site, epoch, n, names)
  local states, epochs = call('HMGET', site .. ';w' .. epoch, unpack(names, 1, n)), {}
  local missing = {}
  for h = 1, n do
    if states[h] then epochs[h] = epoch else missing[#missing + 1] = h end
  end
  for ago = 1, viewEpochs - 1 do
    if #missing == 0 then break end
    local some, rest = {}, {}
    for k, h in ipairs(missing) do some[k] = names[h] end
    for k, state in ipairs(call('HMGET', site .. ';w' .. (epoch - ago), unpack(some))) do
      local h = missing[k]
      if state then states[h], epochs[h] = state, epoch - ago else rest[#rest + 1] = h end
    end
    missing = rest
  end
  return states, epochs
end

-- addReading adds to the numbers of views being read by second.
local function addReading(site, now, added)
  local key, seconds, isNew = site .. ';reading', {}, false
  for second, n in pairs(added) do
    if n ~= 0 then seconds[#seconds + 1] = text[second] end
  end
  if #seconds == 0 then return end
  local sets = { key }
  for k, n in ipairs(call('HMGET', key, unpack(seconds))) do
    local second = seconds[k]
    isNew = isNew or not n
    sets[2 * k], sets[2 * k + 1] = second, text[(n or 0) + added[tonumber(second)]]
  end
  call('HSET', unpack(sets))
  if not isNew then return end
  call('EXPIRE', key, readingWindow + 5)
  if call('HLEN', key) > maxSeconds then
    local expired = {}
    for _, field in ipairs(call('HKEYS', key)) do
      if tonumber(field) <= now - readingWindow then expired[#expired + 1] = field end
    end
    if #expired > 0 then call('HDEL', key, unpack(expired)) end
  end
end

-- Views whose heartbeats in earlier calls have marked their visit as engaged, which those
-- of this level do: true; other views of this call: false.
local markedViews, markedLevel = {}, 9

-- countHeartbeats applies n heartbeats. It returns their flags, or nothing if no
-- view made progress.
local function countHeartbeats(site, epoch, midnight, now, n, views, levels)
  local names = cut(views, n, 8, 8)
  local states, epochs = findViews(site, epoch, n, names)
  local changed, flags, known, any, reading = {}, {}, {}, false, {}
  levels = { byte(levels, 1, 3 * n) }
  for h = 1, n do
    local view, key = names[h], epochs[h]
    flags[h], known[h] = '-----', key and '1' or '0'
    if key then
      local sets = changed[key]
      if not sets then
        sets = {}
        changed[key] = sets
      end
      local state, epochStart = sets[view] or states[h], key * viewEpoch
      local high, low, level, lastHigh, lastLow = byte(state, 1, stateSize)
      local last, current = lastHigh * 256 + lastLow, now - epochStart + 1
      if current < 1 then current = 1 end
      if last > current - readingWindow and last > 0 then
        local second = epochStart + last - 1
        reading[second] = (reading[second] or 0) - 1
      end
      if levels[3 * h] == 49 then
        current = 0
      else
        local second = epochStart + current - 1
        reading[second] = (reading[second] or 0) + 1
      end
      if level ~= unmeasured then
        local scrolled = level % 5
        local engaged = (level - scrolled) / 5
        if markedViews[view] == nil then markedViews[view] = engaged >= markedLevel end
        local e, s = levels[3 * h - 2] - 48, levels[3 * h - 1] - 48
        if e > engaged or s > scrolled then
          local start = epochStart + high * 256 + low
          -- Not longer than since the view, give or take the network's delay.
          local most = math.floor(math.log(math.max(now - start, 0) + 2) / logRatio) + 1
          e, s = math.max(math.min(e, most, 24), engaged), math.max(s, scrolled)
          if e > engaged or s > scrolled then
            level = e * 5 + s
            flags[h] = char(48 + engaged, 48 + e, 48 + scrolled, 48 + s, start < midnight and 49 or 48)
            any = true
          end
        end
      end
      sets[view] = char(high, low, level, (current - current % 256) / 256, current % 256)
    end
  end
  for of, sets in pairs(changed) do
    local args, k = { site .. ';w' .. of }, 1
    for view, state in pairs(sets) do
      args[k + 1], args[k + 2] = view, state
      k = k + 2
    end
    call('HSET', unpack(args))
  end
  addReading(site, now, reading)
  out[#out + 1] = concat(known)
  return any and concat(flags)
end

-- readHash reads the fields of n hits from the g-th hash of an epoch and the one before.
local function readHash(read, g, fields, n)
  read.found[g], read.fieldsOf[g] = call('HMGET', read.hashes[g][1], unpack(fields, 1, n)), fields
  read.changed[g] = {}
end

local function openEpoch(epoch, previous, life)
  local hashes, digits = open(epoch, previous, life)
  return { epoch = epoch, life = life, digits = digits, hashes = hashes, found = {}, fieldsOf = {}, changed = {} }
end

-- readEpoch reads the fields of n hits from all hashes.
local function readEpoch(epoch, previous, life, octals, n)
  local read = openEpoch(epoch, previous, life)
  local fields, width
  for g, hash in ipairs(read.hashes) do
    if hash[2] ~= width then
      width = hash[2]
      fields = cut(octals, n, width, 8)
    end
    readHash(read, g, fields, n)
  end
  return read
end

-- writeEpoch stores the changed fields. A new hash follows when fields are long; one
-- visitor with many hits does not cause it.
local function writeEpoch(read)
  for g, fields in ipairs(read.changed) do
    local hash = read.hashes[g]
    local sets, k, longest = { hash[1] }, 1, 0
    for field, value in pairs(fields) do
      sets[k + 1], sets[k + 2] = field, value
      k = k + 2
      if #value > longest then longest = #value end
    end
    if k > 1 then call('HSET', unpack(sets, 1, k)) end
    if g == 1 and longest > splitSize and hash[2] < maxDigits and averageSize(hash[1], hash[2]) > splitSize / 2 then
      startEpochHash(read.epoch, read.life, read.digits .. hash[2] + 1)
    end
  end
end

-- ageOf returns how many slots ago a stamp is.
local function ageOf(stamp, slot)
  local age = (slot - stamp) % 128
  return age > 120 and 0 or age -- written by a host whose clock is ahead
end

-- findVisit finds the visit of hit h in the window, in the hashes from first to last. Its
-- fingerprint is head, three bytes, and tail. Returns the hash, the field and its value,
-- where the visit is in it, 1 if it was read for long, its stamp and its age.
local function findVisit(read, first, last, h, head, tail, slot, window)
  for g = first, last do
    local field = read.fieldsOf[g][h]
    local value = read.changed[g][field] or read.found[g][h]
    local at = value and find(value, head, 1, true)
    while at do
      if at % 5 == 1 then
        local last, stamp = byte(value, at + 3, at + 4)
        local age = ageOf(stamp, slot)
        if age <= window and (last == tail or last == tail + 1) then
          return g, field, value, at, last - tail, stamp, age
        end
      end
      at = find(value, head, at + 1, true)
    end
  end
end

-- countLoad returns the flag of a page load: 0 if it starts a visit to the site, which
-- the caller stores; of second ones A, or B if the visit started in the hour before, and
-- C or D if it had been read for long.
local function countLoad(read, h, head, tail, minute, slot, window)
  local g, field, value, at, engaged, stamp, age = findVisit(read, 1, #read.hashes, h, head, tail, slot, window)
  if not g then return '0' end
  if stamp >= 128 then return '-' end
  read.changed[g][field] = sub(value, 1, at + 3) .. char(stamp + 128) .. sub(value, at + 5)
  return char(65 + (age > minute and 1 or 0) + engaged * 2)
end

-- countLoads counts page loads that are stored apart from their views.
local function countLoads(epoch, previous, life, minute, slot, window, prints, octals, n)
  local read = readEpoch(epoch, previous, life, octals, n)
  local heads, flags, any = cut(prints, n, 3, 4), {}, false
  local changed, fields, values = read.changed[1], read.fieldsOf[1], read.found[1]
  for h = 1, n do
    local flag = countLoad(read, h, heads[h], byte(prints, 4 * h), minute, slot, window)
    if flag == '0' then
      local field = fields[h]
      changed[field] = (changed[field] or values[h] or '') .. sub(prints, 4 * h - 3, 4 * h) .. char(slot)
    end
    flags[h] = flag
    any = any or flag ~= '-'
  end
  writeEpoch(read)
  return any and concat(flags)
end

-- pick returns the parts of a string that have the given numbers.
local function pick(s, length, numbers)
  local parts = {}
  for k, h in ipairs(numbers) do parts[k] = sub(s, length * (h - 1) + 1, length * h) end
  return concat(parts)
end

-- markVisits marks the visits of n views that were read for long. The flag is A if the
-- visit has no second page load, or B if it also started in the hour before.
local function markVisits(epoch, previous, life, minute, slot, window, prints, octals, n, views)
  local flags, rest, any = {}, {}, false
  local names = views ~= '' and cut(views, n, 8, 8)
  for h = 1, n do
    flags[h] = '-'
    if not names or not markedViews[names[h]] then rest[#rest + 1] = h end
  end
  if #rest == 0 then return false end
  if #rest < n then prints, octals, n = pick(prints, 4, rest), pick(octals, 8, rest), #rest end
  -- Most visits are in the newest hash, so that the others are read for few.
  local read = openEpoch(epoch, previous, life)
  for newest, hash in ipairs(read.hashes) do
    readHash(read, newest, cut(octals, n, hash[2], 8), n)
    local heads, missing = cut(prints, n, 3, 4), {}
    for k = 1, n do
      local tail = byte(prints, 4 * k)
      local g, field, value, at, engaged, stamp, age = findVisit(read, newest, newest, k, heads[k], tail, slot, window)
      if not g then missing[#missing + 1] = k end
      if g and engaged == 0 then
        read.changed[g][field] = sub(value, 1, at + 2) .. char(tail + 1) .. sub(value, at + 4)
        if stamp < 128 then
          flags[rest[k]] = age > minute and 'B' or 'A'
          any = true
        end
      end
    end
    if #missing == 0 then break end
    if #missing < n then
      prints, octals, n = pick(prints, 4, missing), pick(octals, 8, missing), #missing
      for k, h in ipairs(missing) do missing[k] = rest[h] end
      rest = missing
    end
  end
  writeEpoch(read)
  return any and concat(flags)
end

local i, last = 2, #ARGV
while i <= last do
  local kind, n, hits = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2]
  local flags
  i = i + 3
  if kind == 'f' then
    flags = string.rep('0', n)
  elseif kind == 'h' then
    local site, epoch, midnight, now, views, levels = unpack(ARGV, i, i + 5)
    flags = countHeartbeats(site, tonumber(epoch), tonumber(midnight), tonumber(now), n, views, levels)
    i = i + 6
  elseif kind == 'e' or kind == 'q' then
    local minute, epoch, previous, life, slot, window, prints, octals = unpack(ARGV, i, i + 7)
    minute, slot, window = tonumber(minute), tonumber(slot), tonumber(window)
    i = i + 8
    if kind == 'q' then
      flags = markVisits(epoch, previous, life, minute, slot, window, prints, octals, n, ARGV[i])
      i = i + 1
    else
      flags = countLoads(epoch, previous, life, minute, slot, window, prints, octals, n)
    end
  else
    local method, epoch, previous, life, slot, window = unpack(ARGV, i, i + 5)
    local day, week, halfMonth, previousHalfMonth = unpack(ARGV, i + 6, i + 9)
    local entries, octals, minute, pageOf, viewsEpoch, sites = unpack(ARGV, i + 10, i + 15)
    local viewsAt = i + 16
    local pages = viewsAt + 3 * sites -- the first page's hash comes next
    local pageCount = tonumber(ARGV[pages])
    local visitors = pages + pageCount
    local storesVisitors = method == 'S' or method == 'P' or method == 'B'
    i = visitors + 1 + (storesVisitors and n or 0)
    minute, slot, window = tonumber(minute), tonumber(slot), tonumber(window)
    local isLoad = kind == 'p' or kind == 'm'
    local plainStamp, funnelStamp = char(slot), char(slot + 128)
    local read = readEpoch(epoch, previous, life, octals, n)
    local found, fields, values, changed = read.found, read.fieldsOf[1], read.found[1], read.changed[1]
    local older = #found > 1
    local added, line, new, loads, any = {}, {}, {}, {}, false
    local prints = cut(entries, n, 4, isLoad and 10 or 5)
    local whole = cut(entries, n, isLoad and 10 or 5, isLoad and 10 or 5)
    local heads = isLoad and cut(sub(entries, 6) .. '.....', n, 3, 10)
    pageOf = { byte(pageOf, 1, n) }
    for h = 1, n do
      local page, entry, field = pageOf[h], whole[h], fields[h]
      local data = changed[field] or values[h]
      local duplicate, step = false, true
      if data or older then
        local print, g = prints[h], 1
        while true do
          local at = data and find(data, print, 1, true)
          while at do
            if at % 5 == 1 then
              local stamp = byte(data, at + 4)
              local age = ageOf(stamp, slot)
              if age <= window then duplicate = true end
              if stamp > 127 and age <= funnelSlots then step = false end
            end
            at = find(data, print, at + 1, true)
          end
          g = g + 1
          if duplicate or not found[g] then break end
          data = found[g][h]
        end
      end
      local load = isLoad and countLoad(read, h, heads[h], byte(entry, 9), minute, slot, siteWindow)
      if isLoad then
        loads[h] = load
        any = any or load ~= '-'
      end
      if duplicate or not step or isLoad and load ~= '0' then -- not all of the entry
        local hit = duplicate and '' or prints[h] .. (step and funnelStamp or plainStamp)
        entry = load == '0' and hit .. sub(entry, 6) or hit
      end
      if entry ~= '' then changed[field] = (changed[field] or values[h] or '') .. entry end
      if duplicate then
        added[page] = added[page] or 0
        line[h], new[h] = '-', '0'
      else
        local today, isNew = 0, 0
        if storesVisitors then
          local hash, who = ARGV[pages + page], ARGV[visitors + h]
          local of = sub(hash, 1, -3)
          if method ~= 'B' then
            today = call('SADD', of .. day, who)
            if today == 1 then
              isNew = call('SADD', of .. week, who)
              if method == 'S' then
                isNew = call('SADD', of .. halfMonth, who)
                if isNew == 1 then isNew = 1 - call('SISMEMBER', of .. previousHalfMonth, who) end
                if isNew == 1 then call('HINCRBY', hash, 'u', '1') end
              end
            end
          elseif who ~= '0' then
            today = 1 - call('SETBIT', of .. day, who, '1')
            if today == 1 then
              call('SETBIT', of .. week, who, '1')
              isNew = 1 - call('SETBIT', of .. halfMonth, who, '1')
              if isNew == 1 then isNew = 1 - call('GETBIT', of .. previousHalfMonth, who) end
              if isNew == 1 then call('HINCRBY', hash, 'u', '1') end
            end
          end
          new[h] = isNew == 1 and '1' or '0'
        end
        added[page] = (added[page] or 0) + 1
        line[h] = today == 1 and (step and '3' or '2') or step and '1' or '0'
        any = true
      end
    end
    local totals, letter = {}, isLoad and 'v' or kind
    for page = 1, pageCount do
      local counted, total = added[page], 0
      if counted == 0 then
        total = tonumber(call('HGET', ARGV[pages + page], letter) or 0)
      elseif counted then -- not only a page that led to another
        total = call('HINCRBY', ARGV[pages + page], letter, text[counted])
      end
      totals[page] = total
    end
    for at = viewsAt, pages - 1, 3 do startViews(ARGV[at], viewsEpoch, ARGV[at + 1], ARGV[at + 2], line) end
    flags = concat(line)
    out[#out + 1] = flags
    if storesVisitors then out[#out + 1] = concat(new) end
    out[#out + 1] = struct.pack('>' .. string.rep('I8', pageCount), unpack(totals))
    flags = any and flags .. concat(loads)
    if any then writeEpoch(read) end
  end
  if flags then
    log[#log + 1] = flags
    log[#log + 1] = hits
  end
end
if #log > 1 then call('RPUSH', unpack(log)) end
local reply = concat(out)
if replyKey ~= '' then call('SET', replyKey, reply, 'EX', 30) end
return reply
