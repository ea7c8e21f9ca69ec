--[[
What was spent under one budget, carried from the node that asked the ledger to those that would ask next.

KEYS[1]   the budget and its window
ARGV[1]   JSON {spent, ttl}: nano-dollars as text, or an empty text to read only; milliseconds

Returns   the nano-dollars as text, or false when nobody has asked lately.

It only ever sets a sum that the ledger gave, and never adds: sent twice, lost or late, it can't drift.
]]
local call = cjson.decode(ARGV[1])
if call.spent ~= '' then
  redis.call('SET', KEYS[1], call.spent, 'PX', call.ttl)
  return call.spent
end
return redis.call('GET', KEYS[1])
