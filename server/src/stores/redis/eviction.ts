import type { RedisConnection } from './connection.ts'

/** What Redis evicts when its memory is full. Undefined: it does not say, as some servers don't, or does not answer. */
export async function evictionPolicyOf(redis: RedisConnection): Promise<string | undefined> {
  const replies: string[] = []
  await redis.exchange([['INFO', 'memory']], (reply) => void replies.push(String(reply))).catch(() => {})
  return /^maxmemory_policy:(\S+)/m.exec(replies.join(''))?.[1]
}
