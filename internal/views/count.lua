-- Counts hits of one shard, or of any shards where one node has them all.
-- KEYS[1]: a key of the shard that remembers who did what (and routes the
-- call). ARGV[1]: an id under which the answer is kept for a resend, or ''. Then
-- groups of hits that have the settings in common:
--   kind, way, stretch, the one before, life, slot, window, day, week, month,
--   the one before, n
-- (stretches: what their keys begin with; life: of these keys, in seconds; what
-- keys of visitors of a day, a week, and half a month end with)
-- followed by n times the page's hash, the record, and, unless the kind is f,
-- what the visit is known by; and with ways that tell single visitors, the
-- visitor.
-- Answers a number for each hit, total * 4 + new * 2 + counted; with an id, all
-- of them as one text.
-- A call of Redis costs far more than what it does: hits share them.

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

local out, logs = {}, {}
local function log(page, digit, record)
  local tag = sub(page, 1, 5)
  local lines = logs[tag]
  if not lines then
    lines = {}
    logs[tag] = lines
  end
  local n = #lines
  lines[n + 1], lines[n + 2], lines[n + 3] = digit, record, page
end

-- looked finds what the hashes have of n hits, of which each has some arguments
-- from the i-th on.
local function looked(hashes, i, n, each)
  local found, fields, width = {}, nil, nil
  for g, hash in ipairs(hashes) do
    if hash[2] ~= width then
      width, fields = hash[2], {}
      local to, j = 4 + width, i + 2
      for h = 1, n do
        fields[h] = sub(ARGV[j], 5, to)
        j = j + each
      end
      if g == 1 then found.fields = fields end
    end
    found[g] = call('HMGET', hash[1], unpack(fields))
  end
  return found
end

local i, last = 2, #ARGV
while i <= last do
  local kind, way, stretch, before, life, slot, window, day, week, month, earlier, n = unpack(ARGV, i, i + 11)
  i, n = i + 12, tonumber(n)
  if kind == 'f' then
    for j = i, i + 2 * n - 1, 2 do
      log(ARGV[j], '0', ARGV[j + 1])
      out[#out + 1] = 1
    end
    i = i + 2 * n
  else
    local each = (way == '' or way == 'H') and 3 or 4
    slot, window = tonumber(slot), tonumber(window)
    local plain, stepped = string.char(slot), string.char(slot + 128)
    local hashes, digits = open(stretch, before, life)
    local found = looked(hashes, i, n, each)
    local fields, values = found.fields, found[1]
    local fresh, plus, from = {}, {}, #out
    for h = 1, n do
      local page, print, field = ARGV[i], sub(ARGV[i + 2], 1, 4), fields[h]
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
      local new = 0
      if again then
        plus[page] = plus[page] or 0
        out[from + h] = plus[page] * 4
      else
        mine = (mine or '') .. print .. (step and stepped or plain)
        fresh[field] = mine
        local today = 0
        if way == '' then
          new = 1
        elseif way == 'S' or way == 'P' then
          local of, who = sub(page, 1, -3), ARGV[i + 3]
          today = call('SADD', of .. day, who)
          if today == 1 then
            new = call('SADD', of .. week, who)
            if way == 'S' then
              new = call('SADD', of .. month, who)
              if new == 1 then new = 1 - call('SISMEMBER', of .. earlier, who) end
              if new == 1 then call('HINCRBY', page, 'u', 1) end
            end
          end
        elseif way == 'B' and ARGV[i + 3] ~= '0' then
          local of, who = sub(page, 1, -3), ARGV[i + 3]
          today = 1 - call('SETBIT', of .. day, who, 1)
          if today == 1 then
            call('SETBIT', of .. week, who, 1)
            new = 1 - call('SETBIT', of .. month, who, 1)
            if new == 1 then new = 1 - call('GETBIT', of .. earlier, who) end
            if new == 1 then call('HINCRBY', page, 'u', 1) end
          end
        end
        local counted = (plus[page] or 0) + 1
        plus[page] = counted
        out[from + h] = counted * 4 + new * 2 + 1
        log(page, today == 1 and (step and '3' or '2') or step and '1' or '0', ARGV[i + 1])
      end
      i = i + each
    end
    for page, counted in pairs(plus) do
      plus[page] = ((counted > 0 and call('HINCRBY', page, kind, counted) or call('HGET', page, kind) or 0) - counted) * 4
    end
    for h = 1, n do out[from + h] = out[from + h] + plus[ARGV[i - (n - h + 1) * each]] end
    local sets, longest = {}, 0
    for field, value in pairs(fresh) do
      sets[#sets + 1] = field
      sets[#sets + 1] = value
      if #value > longest then longest = #value end
    end
    if longest > 0 then call('HSET', stretch .. #digits, unpack(sets)) end
    local width = hashes[1][2]
    if longest > full and width < most then begin(stretch, life, digits .. width + 1) end
  end
end
for tag, lines in pairs(logs) do call('RPUSH', tag .. 'log', table.concat(lines)) end
if did == '' then return out end
local answer = table.concat(out, ' ')
call('SET', did, answer, 'EX', 30)
return answer
