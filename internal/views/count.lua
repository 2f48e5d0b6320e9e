-- Counts hits of one shard, or of any shards where one node has them all.
-- KEYS[1]: routes the call. ARGV[1]: an id under which the answer is kept for
-- a resend, or ''. Then groups of hits that have the settings in common:
--   kind, way, where, class, stretch, slot, window, day, week, all, n
-- (where: the tag of the dedup buckets, '' for the page's own)
-- followed by n times four:
--   the page's key, the record, the fingerprint, the visitor
-- Answers a line of numbers: total * 4 + new * 2 + counted.

local call, sub, byte, find = redis.call, string.sub, string.byte, string.find
local did = ARGV[1]
if did ~= '' then
  local answer = call('GET', did)
  if answer then return answer end
end

-- A bucket holds five bytes per hit: a fingerprint, and the slot of time it
-- was counted in (modulo 128; + 128 if it was a step of the funnel). A stretch
-- is 60 slots long; what counts is in this one or the one before.
local funnel = 60

-- open finds how many buckets a stretch has. A new one gets them by how full a
-- few of those before it are: about 200 hits each.
local fewest = 1024
local function open(tag, class, stretch)
  local now = tag .. 'd' .. class .. ':' .. stretch .. ':'
  local before = tag .. 'd' .. class .. ':' .. (stretch - 1) .. ':'
  local known = call('MGET', now .. 'n', before .. 'n')
  local n, m = known[1], known[2]
  if m then m = tonumber(m) end
  if not n then
    n = fewest
    if m then
      local bytes = 0
      for i = 0, 7 do bytes = bytes + call('STRLEN', before .. i) end
      while n < 65536 and bytes / 40 * m > n * 200 do n = n * 2 end
    end
    call('SET', now .. 'n', n, 'EX', class * 2 + 60)
  end
  return { now = now, n = tonumber(n), before = before, m = m }
end

local out, logs = {}, {}
local i, last = 2, #ARGV
while i <= last do
  local kind, way, where, class, stretch, slot, window, day, week, all, n = unpack(ARGV, i, i + 10)
  i = i + 11
  slot, window = tonumber(slot), tonumber(window)
  local shards = {}
  for j = i, i + 4 * n - 1, 4 do
    local page, record, print = ARGV[j], ARGV[j + 1], ARGV[j + 2]
    local tag = sub(page, 1, 5)
    local log = logs[tag]
    if not log then
      log = {}
      logs[tag] = log
    end
    if kind == 'f' then
      log[#log + 1] = '0' .. record .. page
      out[#out + 1] = 1
    else
      local at = where == '' and tag or where
      local shard = shards[at]
      if not shard then
        shard = open(at, class, tonumber(stretch))
        shards[at] = shard
      end
      local a, b, c = byte(print, 5, 7)
      local h = a * 65536 + b * 256 + c
      print = sub(print, 1, 4)
      local bucket = shard.now .. h % shard.n
      local again, step = false, true
      local data = call('GET', bucket)
      local older = shard.m
      while true do
        if data then
          local at = find(data, print, 1, true)
          while at do
            if at % 5 == 1 then
              local stamp = byte(data, at + 4)
              local age = (slot - stamp) % 128
              if age > 120 then age = 0 end -- another host's clock is ahead
              if age <= window then again = true end
              if stamp > 127 and age <= funnel then step = false end
            end
            at = find(data, print, at + 1, true)
          end
        end
        if again or not older then break end
        data = call('GET', shard.before .. h % older)
        older = nil
      end
      if again then
        out[#out + 1] = (call('HGET', page .. ':t', kind) or 0) * 4
      else
        if call('APPEND', bucket, print .. string.char(step and slot + 128 or slot)) == 5 then
          call('EXPIRE', bucket, class * 2 + 60)
        end
        local total = call('HINCRBY', page .. ':t', kind, 1)
        local today, new = 0, 0
        if way == 'S' then
          today = call('SADD', page .. day, ARGV[j + 3])
          if today == 1 and call('SADD', page .. week, ARGV[j + 3]) == 1 then
            new = call('SADD', page .. all, ARGV[j + 3])
          end
        elseif way == 'P' then
          today = call('SADD', page .. day, ARGV[j + 3])
          if today == 1 then new = call('SADD', page .. week, ARGV[j + 3]) end
        elseif way == 'B' and ARGV[j + 3] ~= '0' then
          today = 1 - call('SETBIT', page .. day, ARGV[j + 3], 1)
          if today == 1 and call('SETBIT', page .. week, ARGV[j + 3], 1) == 0 then
            new = 1 - call('SETBIT', page .. all, ARGV[j + 3], 1)
          end
        elseif way == '' then
          new = 1
        end
        log[#log + 1] = (step and 1 or 0) + today * 2 .. record .. page
        out[#out + 1] = total * 4 + new * 2 + 1
      end
    end
  end
  i = i + 4 * n
end
for tag, log in pairs(logs) do
  if #log > 0 then call('RPUSH', tag .. 'log', unpack(log)) end
end
local answer = tostring(table.concat(out, ' '))
if did ~= '' then call('SET', did, answer, 'EX', 30) end
return answer
