-- Hands what was folded in a shard to the flush.
-- KEYS[1]: the shard's list of deltas. ARGV[1]: what to do.

local call = redis.call
local tag = string.sub(KEYS[1], 1, 5)
local state, batch = tag .. 'state', ARGV[2]

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
  return 1
end

-- drop <batch>. That it was dropped is remembered: a late repetition must not
-- take new deltas under an id that Postgres has in its ledger.
if ARGV[1] == 'drop' then
  call('SET', tag .. 'gone:' .. batch, 1, 'EX', 604800)
  call('DEL', tag .. 'flush:' .. batch)
  call('LREM', tag .. 'batches', 0, batch)
  return 1
end

-- gather <number> <n> <tag> <sum>...: takes the first n of the log away, and
-- puts sums of them on the lists of their shards, or of what is to be brought
-- there. <number> is of the log's last change.
if ARGV[1] == 'gather' then
  if (call('HGET', state, 'log') or '0') ~= batch then return -1 end
  call('LTRIM', tag .. 'log', ARGV[3], -1)
  for i = 4, #ARGV, 2 do
    if ARGV[i] == 'away' then call('RPUSH', tag .. 'away', ARGV[i + 1]) else call('RPUSH', ARGV[i] .. 'sums', ARGV[i + 1]) end
  end
  return call('HINCRBY', state, 'log', 1)
end

-- receive <id> <sum>: takes a sum from another shard, once.
if ARGV[1] == 'receive' then
  if call('SET', tag .. 'came:' .. batch, 1, 'NX', 'EX', 604800) then call('RPUSH', tag .. 'sums', ARGV[3]) end
  return 1
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
