import type { LimiterMemory } from '#ports/upkeep.ts'
import type { RedisConnection } from './connection.ts'

/** Undefined: Redis does not say, as some servers don't, or does not answer. */
export async function memoryOf(redis: RedisConnection): Promise<LimiterMemory | undefined> {
  const replies: string[] = []
  await redis.exchange([['INFO', 'memory']], (reply) => void replies.push(String(reply))).catch(() => {})
  const value = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(replies.join(''))?.[1]
  const evictionPolicy = value('maxmemory_policy')
  if (evictionPolicy === undefined) return undefined
  return {
    usedBytes: Number(value('used_memory') ?? 0),
    maxBytes: Number(value('maxmemory') ?? 0),
    evictionPolicy,
  }
}
