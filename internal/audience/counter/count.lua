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
--   fingerprints n times 4 bytes
--   octals       n times 8 octal digits
--   visits       n times 4 bytes: fingerprints of visits to the site; '' unless the
--                kind is p or m
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
-- Returns a number per hit except those of e and q, total * 4 + new * 2 + counted; with a reply key, all
-- of them as one string. Arguments and fields are shared between hits because a
-- Redis call, and each string passed to Lua, costs more than the counting itself.

local call, sub, byte, char, find, concat = redis.call, string.sub, string.byte, string.char, string.find, table.concat

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
local minDigits, maxDigits = 5, 8 -- digits
local targetHits, splitSize = 16, 240 -- visits per field at the end of an epoch; bytes in the longest field before a new hash

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
  for g = previousDigits and #previousDigits or 0, 1, -1 do hashes[#hashes + 1] = { previous .. g, byte(previousDigits, g) - 48 } end
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
    local sets = {}
    for k = 1, n do
      local at = (8 + stateSize) * (k - 1)
      local view, state = sub(views, at + 1, at + 8), sub(views, at + 9, at + 8 + stateSize)
      if flags[byte(hits, k)] ~= '-' then
        sets[2 * added + 1], sets[2 * added + 2] = view, state
        added = added + 1
      else
        call('HSETNX', key, view, sub(state, 1, 2) .. char(unmeasured) .. sub(state, 4))
      end
    end
    if added > 0 then call('HSET', key, unpack(sets, 1, 2 * added)) end
  end
  call('EXPIRE', key, (viewEpochs + 1) * viewEpoch)
end

-- findViews returns the states of n views and their epochs.
local function findViews(site, epoch, n, views)
  local states, epochs, missing = {}, {}, {}
  for h = 1, n do missing[h] = h end
  for ago = 0, viewEpochs - 1 do
    if #missing == 0 then break end
    local names, rest = {}, {}
    for k, h in ipairs(missing) do names[k] = sub(views, 8 * h - 7, 8 * h) end
    for k, state in ipairs(call('HMGET', site .. ';w' .. (epoch - ago), unpack(names))) do
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
    if n ~= 0 then seconds[#seconds + 1] = second end
  end
  if #seconds == 0 then return end
  local sets = { key }
  for k, n in ipairs(call('HMGET', key, unpack(seconds))) do
    local second = seconds[k]
    isNew = isNew or not n
    sets[2 * k], sets[2 * k + 1] = second, text[(n or 0) + added[second]]
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
  local states, epochs = findViews(site, epoch, n, views)
  local changed, flags, any, reading = {}, {}, false, {}
  for h = 1, n do
    local view, key = sub(views, 8 * h - 7, 8 * h), epochs[h]
    flags[h] = '-----'
    out[#out + 1] = key and 1 or 0
    if key then
      local sets = changed[key]
      if not sets then
        sets = {}
        changed[key] = sets
      end
      local state, epochStart = sets[view] or states[h], key * viewEpoch
      local high, low, level, lastHigh, lastLow = byte(state, 1, stateSize)
      local last, current = lastHigh * 256 + lastLow, math.max(now - epochStart, 0) + 1
      if last > current - readingWindow and last > 0 then
        local second = text[epochStart + last - 1]
        reading[second] = (reading[second] or 0) - 1
      end
      if sub(levels, 3 * h, 3 * h) == '1' then
        current = 0
      else
        local second = text[epochStart + current - 1]
        reading[second] = (reading[second] or 0) + 1
      end
      if level ~= unmeasured then
        local engaged, scrolled = math.floor(level / 5), level % 5
        if markedViews[view] == nil then markedViews[view] = engaged >= markedLevel end
        local start = epochStart + high * 256 + low
        -- Not longer than since the view, give or take the network's delay.
        local most = math.floor(math.log(math.max(now - start, 0) + 2) / logRatio) + 1
        local e, s = math.min(byte(levels, 3 * h - 2) - 48, most, 24), byte(levels, 3 * h - 1) - 48
        e, s = math.max(e, engaged), math.max(s, scrolled)
        if e > engaged or s > scrolled then
          level = e * 5 + s
          flags[h] = char(48 + engaged, 48 + e, 48 + scrolled, 48 + s, start < midnight and 49 or 48)
          any = true
        end
      end
      sets[view] = char(high, low, level, math.floor(current / 256), current % 256)
    end
  end
  for of, sets in pairs(changed) do
    local args = { site .. ';w' .. of }
    for view, state in pairs(sets) do
      args[#args + 1] = view
      args[#args + 1] = state
    end
    call('HSET', unpack(args))
  end
  addReading(site, now, reading)
  return any and concat(flags)
end

-- readEpoch reads the fields of n hits from each hash of an epoch and the one before.
local function readEpoch(epoch, previous, life, octals, n)
  local hashes, digits = open(epoch, previous, life)
  local read, fields, width = { epoch = epoch, life = life, digits = digits, hashes = hashes, found = {}, fieldsOf = {}, changed = {} }, nil, nil
  for g, hash in ipairs(hashes) do
    if hash[2] ~= width then
      width, fields = hash[2], {}
      local more = width - 1
      for h = 1, n do
        local from = 8 * h - 7
        fields[h] = sub(octals, from, from + more)
      end
    end
    read.found[g], read.fieldsOf[g], read.changed[g] = call('HMGET', hash[1], unpack(fields)), fields, {}
  end
  return read
end

-- writeEpoch stores the changed fields. A new hash follows when fields are long; one
-- visitor with many hits does not cause it.
local function writeEpoch(read)
  for g, fields in ipairs(read.changed) do
    local hash = read.hashes[g]
    local sets, longest = { hash[1] }, 0
    for field, value in pairs(fields) do
      sets[#sets + 1] = field
      sets[#sets + 1] = value
      if #value > longest then longest = #value end
    end
    if #sets > 1 then call('HSET', unpack(sets)) end
    if g == 1 and longest > splitSize and hash[2] < maxDigits and averageSize(hash[1], hash[2]) > splitSize / 2 then
      startEpochHash(read.epoch, read.life, read.digits .. hash[2] + 1)
    end
  end
end

-- countLoads finds the page loads that start a visit to the site, flag 0, and
-- second ones: flag A, or B if the visit started in the hour before; C or D if it
-- had been read for long. Of kind q, it finds the visits that are read for long and
-- have no second page load: flag A or B. A visit's fingerprint is its first three
-- bytes and the last one.
local function countLoads(kind, read, n, minute, slot, window, prints)
  local found, fieldsOf, changed, flags, any = read.found, read.fieldsOf, read.changed, {}, false
  local newest, hashes, stampOfStart = changed[1], #found, char(slot)
  for h = 1, n do
    local head, flag = sub(prints, 4 * h - 3, 4 * h - 1), nil
    for g = 1, hashes do
      local field = fieldsOf[g][h]
      local value = changed[g][field] or found[g][h]
      local at = value and find(value, head, 1, true)
      while at do
        if at % 5 == 1 then
          local tail, last, stamp = byte(prints, 4 * h), byte(value, at + 3, at + 4)
          local age = (slot - stamp) % 128
          if age > 120 then age = 0 end
          if age <= window and (last == tail or last == tail + 1) then
            flag = '-'
            if kind == 'q' then
              if last == tail then
                changed[g][field] = sub(value, 1, at + 2) .. char(tail + 1) .. sub(value, at + 4)
                if stamp < 128 then flag = age > minute and 'B' or 'A' end
              end
            elseif stamp < 128 then
              changed[g][field] = sub(value, 1, at + 3) .. char(stamp + 128) .. sub(value, at + 5)
              flag = char(65 + (age > minute and 1 or 0) + (last - tail) * 2)
            end
            break
          end
        end
        at = find(value, head, at + 1, true)
      end
      if flag then break end
    end
    if not flag then
      flag = '-'
      if kind ~= 'q' then
        local field = fieldsOf[1][h]
        newest[field] = (newest[field] or found[1][h] or '') .. sub(prints, 4 * h - 3, 4 * h) .. stampOfStart
        flag = '0'
      end
    end
    flags[h] = flag
    any = any or flag ~= '-'
  end
  return any, flags
end

-- markVisits marks the visits of n views that were read for long, as countLoads does.
local function markVisits(epoch, previous, life, minute, slot, window, prints, octals, n, views)
  local rest, p, o = {}, {}, {}
  for h = 1, n do
    if views == '' or not markedViews[sub(views, 8 * h - 7, 8 * h)] then
      local k = #rest + 1
      rest[k], p[k], o[k] = h, sub(prints, 4 * h - 3, 4 * h), sub(octals, 8 * h - 7, 8 * h)
    end
  end
  if #rest == 0 then return false end
  local read = readEpoch(epoch, previous, life, concat(o), #rest)
  local any, found = countLoads('q', read, #rest, minute, slot, window, concat(p))
  writeEpoch(read)
  local flags = {}
  for h = 1, n do flags[h] = '-' end
  for k, h in ipairs(rest) do flags[h] = found[k] end
  return any, flags
end

local i, last = 2, #ARGV
while i <= last do
  local kind, n, hits = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2]
  i = i + 3
  if kind == 'f' then
    for _ = 1, n do out[#out + 1] = 1 end
    log[#log + 1] = string.rep('0', n)
    log[#log + 1] = hits
  elseif kind == 'h' then
    local flags = countHeartbeats(ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), n, ARGV[i + 4], ARGV[i + 5])
    if flags then
      log[#log + 1] = flags
      log[#log + 1] = hits
    end
    i = i + 6
  elseif kind == 'e' or kind == 'q' then
    local minute, epoch, previous, life, slot, window, prints, octals = unpack(ARGV, i, i + 7)
    minute, slot, window = tonumber(minute), tonumber(slot), tonumber(window)
    i = i + 8
    local any, flags
    if kind == 'q' then
      any, flags = markVisits(epoch, previous, life, minute, slot, window, prints, octals, n, ARGV[i])
      i = i + 1
    else
      local read = readEpoch(epoch, previous, life, octals, n)
      any, flags = countLoads(kind, read, n, minute, slot, window, prints)
      writeEpoch(read)
    end
    if any then
      log[#log + 1] = concat(flags)
      log[#log + 1] = hits
    end
  else
    local method, epoch, previous, life, slot, window, day, week, halfMonth, previousHalfMonth, prints, octals, visits, minute, pageOf, viewsEpoch, sites = unpack(ARGV, i, i + 16)
    local viewsAt = i + 17
    local pages = viewsAt + 3 * sites -- the first page's hash comes next
    local visitors = pages + tonumber(ARGV[pages])
    local storesVisitors = method == 'S' or method == 'P' or method == 'B'
    i = visitors + 1 + (storesVisitors and n or 0)
    slot, window = tonumber(slot), tonumber(window)
    local plainStamp, funnelStamp = char(slot), char(slot + 128)
    local read = readEpoch(epoch, previous, life, octals, n)
    local found, fields, values, changed = read.found, read.fieldsOf[1], read.found[1], read.changed[1]
    local added, from, flags, any = {}, #out, {}, false
    local letter = visits ~= '' and 'v' or kind
    pageOf = { byte(pageOf, 1, n) }
    for h = 1, n do
      local page, print, field = pageOf[h], sub(prints, 4 * h - 3, 4 * h), fields[h]
      local value = changed[field] or values[h]
      local duplicate, step, data, g = false, true, value, 1
      while true do
        if data then
          local at = find(data, print, 1, true)
          while at do
            if at % 5 == 1 then
              local stamp = byte(data, at + 4)
              local age = (slot - stamp) % 128
              if age > 120 then age = 0 end -- written by a host whose clock is ahead
              if age <= window then duplicate = true end
              if stamp > 127 and age <= funnelSlots then step = false end
            end
            at = find(data, print, at + 1, true)
          end
        end
        g = g + 1
        if duplicate or not found[g] then break end
        data = found[g][h]
      end
      if duplicate then
        added[page] = added[page] or 0
        out[from + h] = added[page] * 4
        flags[h] = '-'
      else
        value = (value or '') .. print .. (step and funnelStamp or plainStamp)
        changed[field] = value
        local new, today = 0, 0
        if storesVisitors then
          local hash, who = ARGV[pages + page], ARGV[visitors + h]
          local of = sub(hash, 1, -3)
          if method ~= 'B' then
            today = call('SADD', of .. day, who)
            if today == 1 then
              new = call('SADD', of .. week, who)
              if method == 'S' then
                new = call('SADD', of .. halfMonth, who)
                if new == 1 then new = 1 - call('SISMEMBER', of .. previousHalfMonth, who) end
                if new == 1 then call('HINCRBY', hash, 'u', '1') end
              end
            end
          elseif who ~= '0' then
            today = 1 - call('SETBIT', of .. day, who, '1')
            if today == 1 then
              call('SETBIT', of .. week, who, '1')
              new = 1 - call('SETBIT', of .. halfMonth, who, '1')
              if new == 1 then new = 1 - call('GETBIT', of .. previousHalfMonth, who) end
              if new == 1 then call('HINCRBY', hash, 'u', '1') end
            end
          end
        elseif method == '' then
          new = 1
        end
        local counted = (added[page] or 0) + 1
        added[page] = counted
        out[from + h] = counted * 4 + new * 2 + 1
        flags[h] = today == 1 and (step and '3' or '2') or step and '1' or '0'
        any = true
      end
    end
    for page, counted in pairs(added) do
      local hash, total = ARGV[pages + page], nil
      if counted == 0 then
        total = call('HGET', hash, letter) or 0
      else
        -- Passing a string is faster: Redis formats Lua numbers slowly.
        total = call('HINCRBY', hash, letter, counted == 1 and '1' or counted)
      end
      added[page] = (total - counted) * 4
    end
    for h = 1, n do out[from + h] = out[from + h] + added[pageOf[h]] end
    for at = viewsAt, pages - 1, 3 do startViews(ARGV[at], viewsEpoch, ARGV[at + 1], ARGV[at + 2], flags) end
    local line = concat(flags)
    if visits ~= '' then
      local anyLoad, loads = countLoads(kind, read, n, tonumber(minute), slot, siteWindow, visits)
      any, line = any or anyLoad, line .. concat(loads)
    end
    if any then
      writeEpoch(read)
      log[#log + 1] = line
      log[#log + 1] = hits
    end
  end
end
if #log > 1 then call('RPUSH', unpack(log)) end
if replyKey == '' then return out end
local reply = concat(out, ' ')
call('SET', replyKey, reply, 'EX', 30)
return reply
