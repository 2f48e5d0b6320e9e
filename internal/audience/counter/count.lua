-- Counts hits of one shard, or of any shards where one node has them all.
-- KEYS[1]: the log of the shard that remembers who did what. ARGV[1]: an id
-- under which the answer is kept for a resend, or ''. Then groups of hits that
-- have the settings in common:
--   kind, n, what the log keeps of the n hits
-- and, unless the kind is f,
--   way, stretch, the one before, life, slot, window, day, week, month, the one
--   before, what the visits are known by: n times four bytes, and n times eight
--   octal digits, n bytes: the number of each hit's page, m, m pages' hashes
-- (stretches: what their keys begin with; life: of these keys, in seconds; what
-- keys of visitors of a day, a week, and half a month end with), and with ways
-- that tell single visitors, n visitors.
-- Answers a number for each hit, total * 4 + new * 2 + counted; with an id, all
-- of them as one text.
-- A call of Redis costs far more than what it does, and so does every text that
-- Lua is given or makes: hits share them.

local call, sub, byte, find = redis.call, string.sub, string.byte, string.find
local did = ARGV[1]
if did ~= '' then
  local answer = call('GET', did)
  if answer then return answer end
end

-- What visits are known by is four bytes and eight octal digits. Who did what in
-- a stretch of 60 slots lies in hashes, the newest of which takes what is new:
-- its fields are named by the first digits, as many as the key that lists the
-- hashes says, and hold five bytes per hit: the four, and the slot of time it
-- was counted in (modulo 128; + 128 if it was a step of the funnel). What
-- counts is in this stretch or the one before.
local funnel = 60
-- Lua reads every byte of a text to keep it, so fields had better be short.
local first, most = 5, 8 -- digits
local wanted, full = 16, 240 -- hits of a field when an hour is over; bytes

local function begin(stretch, life, digits)
  call('SET', stretch .. 'n', digits, 'EX', life)
  local hash = stretch .. #digits
  call('HSET', hash, '', '')
  call('EXPIRE', hash, life)
end

-- open gives the hashes to look into, the newest of the stretch first.
local function open(stretch, before, life)
  local known = call('MGET', stretch .. 'n', before .. 'n')
  local digits, past = known[1], known[2]
  if not digits then
    digits = tostring(first)
    if past then
      -- As many fields as the stretch before would have needed, by a few of them.
      local hits, n = 0, 3
      for g = 1, #past do
        local width, bytes = byte(past, g) - 48, 0
        for digit = 0, 7 do bytes = bytes + call('HSTRLEN', before .. g, string.rep(digit, width)) end
        hits = hits + bytes / 40 * 8 ^ width
      end
      while n < most and hits > wanted * 8 ^ n do n = n + 1 end
      digits = tostring(n)
    end
    begin(stretch, life, digits)
  end
  local hashes = {}
  for g = #digits, 1, -1 do hashes[#hashes + 1] = { stretch .. g, byte(digits, g) - 48 } end
  for g = past and #past or 0, 1, -1 do hashes[#hashes + 1] = { before .. g, byte(past, g) - 48 } end
  return hashes, digits
end

local out, log = {}, { KEYS[1] }

-- looked finds what the hashes have of n hits, whose digits stand in a row.
local function looked(hashes, digits, n)
  local found, fields, width = {}, nil, nil
  for g, hash in ipairs(hashes) do
    if hash[2] ~= width then
      width, fields = hash[2], {}
      local more = width - 1
      for h = 1, n do
        local from = 8 * h - 7
        fields[h] = sub(digits, from, from + more)
      end
      if g == 1 then found.fields = fields end
    end
    found[g] = call('HMGET', hash[1], unpack(fields))
  end
  return found
end

local i, last = 2, #ARGV
while i <= last do
  local kind, n, hits = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2]
  i = i + 3
  if kind == 'f' then
    for _ = 1, n do out[#out + 1] = 1 end
    log[#log + 1] = string.rep('0', n)
    log[#log + 1] = hits
  else
    local way, stretch, before, life, slot, window, day, week, month, earlier, prints, octal, pageOf, m = unpack(ARGV, i, i + 13)
    local pages = i + 13 -- the first page's hash comes next
    local visitors = pages + tonumber(m)
    local known = way == 'S' or way == 'P' or way == 'B'
    i = visitors + 1 + (known and n or 0)
    slot, window = tonumber(slot), tonumber(window)
    local plain, stepped = string.char(slot), string.char(slot + 128)
    local hashes, digits = open(stretch, before, life)
    local found = looked(hashes, octal, n)
    local fields, values = found.fields, found[1]
    local fresh, plus, from, flags, any = {}, {}, #out, {}, false
    for h = 1, n do
      local page, print, field = byte(pageOf, h), sub(prints, 4 * h - 3, 4 * h), fields[h]
      local mine = fresh[field] or values[h]
      local again, step, data, g = false, true, mine, 1
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
        g = g + 1
        if again or not found[g] then break end
        data = found[g][h]
      end
      if again then
        plus[page] = plus[page] or 0
        out[from + h] = plus[page] * 4
        flags[h] = '-'
      else
        mine = (mine or '') .. print .. (step and stepped or plain)
        fresh[field] = mine
        local new, today = 0, 0
        if known then
          local hash, who = ARGV[pages + page], ARGV[visitors + h]
          local of = sub(hash, 1, -3)
          if way ~= 'B' then
            today = call('SADD', of .. day, who)
            if today == 1 then
              new = call('SADD', of .. week, who)
              if way == 'S' then
                new = call('SADD', of .. month, who)
                if new == 1 then new = 1 - call('SISMEMBER', of .. earlier, who) end
                if new == 1 then call('HINCRBY', hash, 'u', '1') end
              end
            end
          elseif who ~= '0' then
            today = 1 - call('SETBIT', of .. day, who, '1')
            if today == 1 then
              call('SETBIT', of .. week, who, '1')
              new = 1 - call('SETBIT', of .. month, who, '1')
              if new == 1 then new = 1 - call('GETBIT', of .. earlier, who) end
              if new == 1 then call('HINCRBY', hash, 'u', '1') end
            end
          end
        elseif way == '' then
          new = 1
        end
        local counted = (plus[page] or 0) + 1
        plus[page] = counted
        out[from + h] = counted * 4 + new * 2 + 1
        flags[h] = today == 1 and (step and '3' or '2') or step and '1' or '0'
        any = true
      end
    end
    for page, counted in pairs(plus) do
      local hash, total = ARGV[pages + page], nil
      if counted == 0 then
        total = call('HGET', hash, kind) or 0
      else
        -- Redis prints numbers for Lua slowly.
        total = call('HINCRBY', hash, kind, counted == 1 and '1' or counted)
      end
      plus[page] = (total - counted) * 4
    end
    for h = 1, n do out[from + h] = out[from + h] + plus[byte(pageOf, h)] end
    if any then
      local sets, longest = { stretch .. #digits }, 0
      for field, value in pairs(fresh) do
        sets[#sets + 1] = field
        sets[#sets + 1] = value
        if #value > longest then longest = #value end
      end
      call('HSET', unpack(sets))
      local width = hashes[1][2]
      if longest > full and width < most then begin(stretch, life, digits .. width + 1) end
      log[#log + 1] = table.concat(flags)
      log[#log + 1] = hits
    end
  end
end
if #log > 1 then call('RPUSH', unpack(log)) end
if did == '' then return out end
local answer = table.concat(out, ' ')
call('SET', did, answer, 'EX', 30)
return answer
