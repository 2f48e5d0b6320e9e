-- Hands what was folded in a shard to the flush.
-- KEYS[1]: the shard's list of deltas. ARGV[1]: what to do.

local call = redis.call
local tag = string.sub(KEYS[1], 1, 5)
local state, batch = tag .. 'state', ARGV[2]

-- bound keeps the newest n records of the quarantine. It answers how many it
-- discarded.
local function bound(n)
  local over = call('LLEN', tag .. 'quarantine') - n
  if over <= 0 then return 0 end
  call('LTRIM', tag .. 'quarantine', over, -1)
  return over
end

-- take <batch>: answers 1 if it is there, 0 if there is nothing to take, -1 if
-- the shard was lost.
if ARGV[1] == 'take' then
  if call('EXISTS', tag .. 'flush:' .. batch) == 1 then return 1 end
  if call('EXISTS', tag .. 'gone:' .. batch) == 1 then return 0 end
  if call('HEXISTS', state, 'seeded') == 0 then return -1 end
  if call('EXISTS', KEYS[1]) == 0 then return 0 end
  call('HINCRBY', state, 'change', 1)
  call('RENAME', KEYS[1], tag .. 'flush:' .. batch)
  call('RPUSH', tag .. 'batches', batch)
  if call('EXISTS', tag .. 'refused') == 1 then call('RENAME', tag .. 'refused', tag .. 'refused:' .. batch) end
  call('HINCRBY', state, 'takes', 1)
  return 1
end

-- drop <batch>. That it was dropped is remembered: a late repetition must not
-- take new deltas under an id that Postgres has in its ledger.
if ARGV[1] == 'drop' then
  call('SET', tag .. 'gone:' .. batch, 1, 'EX', 604800)
  call('DEL', tag .. 'flush:' .. batch, tag .. 'refused:' .. batch)
  call('LREM', tag .. 'batches', 0, batch)
  call('DEL', tag .. 'left:' .. batch)
  return 1
end

-- quarantine <list> <batch> <n> <entry> <id> <record>...: moves entries of a list
-- that cannot be read to the quarantine, which keeps the newest n. Of a batch it
-- notes which it left out, for the ledger: <list> is flush:<batch> then. Answers
-- how many it moved, and how many it discarded.
if ARGV[1] == 'quarantine' then
  local list, of, moved = ARGV[2], ARGV[3], 0
  for i = 5, #ARGV, 3 do
    if call('LREM', tag .. list, 1, ARGV[i]) == 1 then
      call('RPUSH', tag .. 'quarantine', ARGV[i + 2])
      moved = moved + 1
      if of ~= '' then
        call('SADD', tag .. 'left:' .. of, ARGV[i + 1])
        call('EXPIRE', tag .. 'left:' .. of, 3456000)
      end
    end
  end
  -- Whoever read the list before must not take what is first on it now for that.
  if moved > 0 and (list == 'sums' or list == 'deltas') then call('HINCRBY', state, 'change', 1) end
  return { moved, bound(tonumber(ARGV[4])) }
end

-- replay <record> <list> <entry>...: puts a record of the quarantine back on its
-- list, once. Without a list it is discarded. Answers 0 if it is not there.
if ARGV[1] == 'replay' then
  if call('LREM', tag .. 'quarantine', 1, batch) == 0 then return 0 end
  if ARGV[3] then call('RPUSH', tag .. ARGV[3], unpack(ARGV, 4)) end
  return 1
end

-- gather <number> <n> <kept> <tag> <sum>...: takes the first n of the log away,
-- and puts sums of them on the lists of their shards, or of what is to be brought
-- there, or in the quarantine, which keeps the newest <kept>. <number> is of the
-- log's last change. Answers how many the quarantine discarded, or -1 if somebody
-- else was faster.
if ARGV[1] == 'gather' then
  if (call('HGET', state, 'log') or '0') ~= batch then return -1 end
  call('LTRIM', tag .. 'log', ARGV[3], -1)
  for i = 5, #ARGV, 2 do
    if ARGV[i] == 'away' or ARGV[i] == 'quarantine' then
      call('RPUSH', tag .. ARGV[i], ARGV[i + 1])
    else
      call('RPUSH', ARGV[i] .. 'sums', ARGV[i + 1])
    end
  end
  call('HINCRBY', state, 'log', 1)
  return bound(tonumber(ARGV[4]))
end

-- receive <id> <sum>: takes a sum from another shard, once.
if ARGV[1] == 'receive' then
  if call('SET', tag .. 'came:' .. batch, 1, 'NX', 'EX', 604800) then call('RPUSH', tag .. 'sums', ARGV[3]) end
  return 1
end

-- refused <page>: answers how often a batch was taken, what was filtered of a page
-- since, and batches that are not dropped, each with what it has of that.
if ARGV[1] == 'refused' then
  local out = { call('HGET', state, 'takes') or '0', call('HGET', tag .. 'refused', batch) or '{}' }
  for _, name in ipairs(call('LRANGE', tag .. 'batches', 0, -1)) do
    local refused = call('HGET', tag .. 'refused:' .. name, batch)
    if refused then
      out[#out + 1] = name
      out[#out + 1] = refused
    end
  end
  return out
end

-- sketch <page> <day>...: answers the pages' all-time HyperLogLogs, of which the
-- day's is not a part yet.
if ARGV[1] == 'sketch' then
  local sketches = {}
  for i = 2, #ARGV, 2 do
    local all, today, both = ARGV[i] .. ':uH', ARGV[i] .. ':' .. ARGV[i + 1] .. 'dH', tag .. 'sketch'
    if call('EXISTS', all, today) == 0 then
      sketches[#sketches + 1] = ''
    else
      call('PFMERGE', both, all, today)
      local sketch = redis.pcall('GET', both)
      if type(sketch) ~= 'string' then sketch = '' end -- miniredis does not give it
      sketches[#sketches + 1] = sketch
      call('DEL', both)
    end
  end
  return sketches
end

-- compact <change> <n> <delta>: puts one delta for the first n.
if (call('HGET', state, 'change') or '0') ~= batch then return -1 end
call('HINCRBY', state, 'change', 1)
call('LTRIM', KEYS[1], ARGV[3], -1)
call('LPUSH', KEYS[1], ARGV[4])
return 1
