-- HyperLogLogs of pages, for the scripts that this file is put in front of.
--
-- A page with few visitors has no HyperLogLogs of its own: field H of its hash lists
-- their registers, four bytes each, of which the high 13 bits are the day modulo 8192,
-- 14 the register, and 5 its value - 1. A list that no longer fits becomes one
-- HyperLogLog per day and one for all days before the latest; the field is then empty.

-- Redis stores values of up to 64 bytes in the compact form of hashes.
local maxRegisters, registerSize, registerDays = 64, 4, 8192

-- addRegisters adds registers to a list. It returns nothing if they don't fit.
local function addRegisters(list, added)
  for from = 1, #added, registerSize do
    local one = string.sub(added, from, from + registerSize - 1)
    local at = string.find(list, one, 1, true)
    while at and at % registerSize ~= 1 do at = string.find(list, one, at + 1, true) end
    if not at then
      if #list >= maxRegisters then return nil end
      list = list .. one
    end
  end
  return list
end

-- storeSketch stores a HyperLogLog in the sparse format of Redis. It has the given
-- registers, ascending numbers of register * 32 + value - 1.
local function storeSketch(key, registers)
  local out, zeros = { 'HYLL', string.char(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128) }, 0
  local function skip(n)
    if n > 64 then
      out[#out + 1] = string.char(64 + math.floor((n - 1) / 256), (n - 1) % 256)
    elseif n > 0 then
      out[#out + 1] = string.char(n - 1)
    end
  end
  for k, one in ipairs(registers) do
    local register, next = math.floor(one / 32), registers[k + 1]
    if not next or math.floor(next / 32) > register then -- the largest value counts
      skip(register - zeros)
      out[#out + 1] = string.char(128 + one % 32 * 4)
      zeros = register + 1
    end
  end
  skip(16384 - zeros)
  redis.call('SET', key, table.concat(out))
end

-- storeSketches stores the HyperLogLogs of a page's list of registers. latest is the
-- page's latest day with views; nothing if there is none.
local function storeSketches(page, list, latest, now)
  local tomorrow, earlier, days = math.floor(now / 86400) + 1, {}, {}
  for at = 1, #list, registerSize do
    local number = struct.unpack('>I4', string.sub(list, at, at + registerSize - 1))
    local one = number % 2 ^ 19
    local day = tomorrow - (tomorrow - (number - one) / 2 ^ 19) % registerDays
    if day ~= latest then earlier[#earlier + 1] = one end
    days[day] = days[day] or {}
    table.insert(days[day], one)
  end
  for day, registers in pairs(days) do
    if day == latest or day > tomorrow - 10 then
      local key = string.format('%s:%ddH', page, day)
      table.sort(registers)
      storeSketch(key, registers)
      if day ~= latest then redis.call('EXPIRE', key, 9 * 86400) end
    end
  end
  if #earlier > 0 then
    table.sort(earlier)
    storeSketch(page .. ':uH', earlier)
  end
end

