--[[
Takes from rate limits: many requests in one call, each decided on its own and in order, all or nothing.
The arithmetic is that of core/limit.ts, operation for operation; both compute with doubles that hold whole numbers.

KEYS      the limits of this call, each once, all in one slot. A value is '<at>:<grains>': Unix microseconds, and what was
          owed then. A unit is 60,000,000 grains, so that a limit of n units a minute pays off n grains a microsecond.
ARGV[1]   JSON {number, now, corrections, requests}
          number       handed back, so that no reply can be taken for that of another call
          now          Unix microseconds, or 0 for the time of this server: only tests give it
          corrections  [[index in KEYS, units a minute, difference in units], ...], applied first
          requests     [[[index in KEYS, units a minute, amount in units], ...], ...]

Returns   [number, then for each request: 1 if it is allowed or else 0, and for each of its takes the grains owed
          afterwards], all integers.

Atomic: everything is decided before the first write, so a call that fails on the way takes nothing.
It never waits, never touches a key that is not in KEYS, and never leaves a key without expiry.
It must never be sent again, not even when its reply was lost: what it took, it took.
]]
local GRAINS_PER_UNIT = 60000000
local MICROSECONDS_PER_MS = 1000
-- Kept so much longer than anything is owed that a small step of the clock forgets no debt.
local MARGIN_MS = 60000

local call = cjson.decode(ARGV[1])
local now = call.now
if now == 0 then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local stored = redis.call('MGET', unpack(KEYS))
-- By index in KEYS: the grains owed now, and the units a minute of limits that must be written.
local owed, changed = {}, {}

local function owedBy(index, perMinute)
  if owed[index] then return owed[index] end
  local grains = 0
  local at, before = string.match(stored[index] or '', '^(%d+):(%d+)$')
  if at then
    at, before = tonumber(at), tonumber(before)
    grains = math.max(0, before - math.max(0, now - at) * perMinute)
    -- The clock was set back: stamped anew, or it would stand still until the old time returns.
    if at > now then changed[index] = perMinute end
  end
  owed[index] = grains
  return grains
end

for _, correction in ipairs(call.corrections) do
  local index, perMinute, difference = correction[1], correction[2], correction[3]
  owed[index] = math.max(0, owedBy(index, perMinute) + difference * GRAINS_PER_UNIT)
  changed[index] = perMinute
end

local reply, length = { call.number }, 1
for _, takes in ipairs(call.requests) do
  local allowed = true
  for _, take in ipairs(takes) do
    local index, perMinute, amount = take[1], take[2], take[3]
    local grains = owedBy(index, perMinute) + amount * GRAINS_PER_UNIT
    if grains > perMinute * GRAINS_PER_UNIT then allowed = false end
  end
  length = length + 1
  reply[length] = allowed and 1 or 0
  for _, take in ipairs(takes) do
    local index, perMinute, amount = take[1], take[2], take[3]
    if allowed then
      owed[index] = owed[index] + amount * GRAINS_PER_UNIT
      changed[index] = perMinute
    end
    length = length + 1
    reply[length] = owed[index]
  end
end

for index, perMinute in pairs(changed) do
  local expiryMs = math.ceil(owed[index] / (perMinute * MICROSECONDS_PER_MS)) + MARGIN_MS
  redis.call('PSETEX', KEYS[index], expiryMs, string.format('%d:%d', now, owed[index]))
end
return reply
