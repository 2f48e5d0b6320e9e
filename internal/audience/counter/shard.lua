-- Moves entries between the queues of a shard: summaries, deltas, batches and the
-- quarantine.
-- KEYS[1]: the shard's list of deltas. ARGV[1]: the command.

local call = redis.call
local tag = string.sub(KEYS[1], 1, 5)
local state, batch = tag .. 'state', ARGV[2]

-- trimQuarantine keeps the newest n records of the quarantine and returns the
-- number of discarded ones.
local function trimQuarantine(n)
  local over = call('LLEN', tag .. 'quarantine') - n
  if over <= 0 then return 0 end
  call('LTRIM', tag .. 'quarantine', over, -1)
  return over
end

-- take <batch>: moves the deltas to a batch. Returns 1 if the batch exists, 0 if
-- there is nothing to take, -1 if the shard lost its counters.
if ARGV[1] == 'take' then
  if call('EXISTS', tag .. 'flush:' .. batch) == 1 then return 1 end
  if call('EXISTS', tag .. 'dropped:' .. batch) == 1 then return 0 end
  if call('HEXISTS', state, 'seeded') == 0 then return -1 end
  if call('EXISTS', KEYS[1]) == 0 then return 0 end
  call('HINCRBY', state, 'change', 1)
  call('RENAME', KEYS[1], tag .. 'flush:' .. batch)
  call('RPUSH', tag .. 'batches', batch)
  if call('EXISTS', tag .. 'filtered') == 1 then call('RENAME', tag .. 'filtered', tag .. 'filtered:' .. batch) end
  call('HINCRBY', state, 'take_count', 1)
  return 1
end

-- drop <batch>: deletes a batch and remembers its id for a week, so that a late
-- retry does not take new deltas under an id that is in the ledger.
if ARGV[1] == 'drop' then
  call('SET', tag .. 'dropped:' .. batch, 1, 'EX', 604800)
  call('DEL', tag .. 'flush:' .. batch, tag .. 'filtered:' .. batch)
  call('LREM', tag .. 'batches', 0, batch)
  call('DEL', tag .. 'skipped:' .. batch)
  return 1
end

-- quarantine <list> <batch> <n> [<entry> <id> <record>]...: moves unreadable
-- entries of a list to the quarantine, which keeps the newest n. For a batch
-- (<list> is flush:<batch>) it also adds the ids to the batch's skipped records.
-- Returns the number of moved and of discarded records.
if ARGV[1] == 'quarantine' then
  local list, skippedIn, moved = ARGV[2], ARGV[3], 0
  for i = 5, #ARGV, 3 do
    if call('LREM', tag .. list, 1, ARGV[i]) == 1 then
      call('RPUSH', tag .. 'quarantine', ARGV[i + 2])
      moved = moved + 1
      if skippedIn ~= '' then
        call('SADD', tag .. 'skipped:' .. skippedIn, ARGV[i + 1])
        call('EXPIRE', tag .. 'skipped:' .. skippedIn, 3456000)
      end
    end
  end
  -- Invalidates reads of the list by other processes: its first entry changed.
  if moved > 0 and (list == 'summaries' or list == 'deltas') then call('HINCRBY', state, 'change', 1) end
  return { moved, trimQuarantine(tonumber(ARGV[4])) }
end

-- replay <record> [<list> <entry>...]: moves a quarantined record back to its
-- list, or discards it if there is no list. Returns 0 if the record is not in the
-- quarantine.
if ARGV[1] == 'replay' then
  if call('LREM', tag .. 'quarantine', 1, batch) == 0 then return 0 end
  if ARGV[3] then call('RPUSH', tag .. ARGV[3], unpack(ARGV, 4)) end
  return 1
end

-- summarize <number> <n> <max> [<tag> <summaries>]...: removes the first n lines
-- of the log and appends their summaries to the lists of their shards, to the
-- transfers, or to the quarantine, which keeps the newest <max>. <number> is the
-- expected number of the log's last change. Returns the number of discarded
-- quarantine records, or -1 if another process changed the log first.
if ARGV[1] == 'summarize' then
  if (call('HGET', state, 'log') or '0') ~= batch then return -1 end
  call('LTRIM', tag .. 'log', ARGV[3], -1)
  for i = 5, #ARGV, 2 do
    if ARGV[i] == 'transfers' or ARGV[i] == 'quarantine' then
      call('RPUSH', tag .. ARGV[i], ARGV[i + 1])
    else
      call('RPUSH', ARGV[i] .. 'summaries', ARGV[i + 1])
    end
  end
  call('HINCRBY', state, 'log', 1)
  return trimQuarantine(tonumber(ARGV[4]))
end

-- receive <id> <summaries>: adds summaries transferred from another shard, once.
if ARGV[1] == 'receive' then
  if call('SET', tag .. 'received:' .. batch, 1, 'NX', 'EX', 604800) then call('RPUSH', tag .. 'summaries', ARGV[3]) end
  return 1
end

-- filtered <page>: returns the number of taken batches, the page's filtered hits
-- since the last one, and for each pending batch its id and filtered hits.
if ARGV[1] == 'filtered' then
  local out = { call('HGET', state, 'take_count') or '0', call('HGET', tag .. 'filtered', batch) or '{}' }
  for _, name in ipairs(call('LRANGE', tag .. 'batches', 0, -1)) do
    local filtered = call('HGET', tag .. 'filtered:' .. name, batch)
    if filtered then
      out[#out + 1] = name
      out[#out + 1] = filtered
    end
  end
  return out
end

-- sketch [<page> <day>]...: returns the pages' all-time HyperLogLogs, merged with
-- that of the day.
if ARGV[1] == 'sketch' then
  local sketches = {}
  for i = 2, #ARGV, 2 do
    local all, today, both = ARGV[i] .. ':uH', ARGV[i] .. ':' .. ARGV[i + 1] .. 'dH', tag .. 'sketch'
    if call('EXISTS', all, today) == 0 then
      sketches[#sketches + 1] = ''
    else
      call('PFMERGE', both, all, today)
      local sketch = redis.pcall('GET', both)
      if type(sketch) ~= 'string' then sketch = '' end -- miniredis does not support it
      sketches[#sketches + 1] = sketch
      call('DEL', both)
    end
  end
  return sketches
end

-- compact <change> <n> <delta>: replaces the first n deltas with one. Returns -1
-- if another process changed the shard first.
if (call('HGET', state, 'change') or '0') ~= batch then return -1 end
call('HINCRBY', state, 'change', 1)
call('LTRIM', KEYS[1], ARGV[3], -1)
call('LPUSH', KEYS[1], ARGV[4])
return 1
