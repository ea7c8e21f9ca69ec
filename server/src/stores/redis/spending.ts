import { redisScript } from '#package/files.ts'
import type { SpendingQuestion, SpendingReader } from '#ports/budgets.ts'
import { scriptOf, type RedisConnection } from './connection.ts'

export const SPENT_SCRIPT = scriptOf(redisScript('spent'))

/** Maximum age of a sum: the ledger is read once in this time, however many nodes there are. */
const FRESH_MS = 2000

/** Sums of the ledger, shared between nodes through Redis. While Redis is unreachable each node reads the ledger itself. */
export class RedisSpending implements SpendingReader {
  readonly #connection: RedisConnection
  readonly #ledger: SpendingReader

  constructor(connection: RedisConnection, ledger: SpendingReader) {
    this.#connection = connection
    this.#ledger = ledger
  }

  async spentNanoUsd(asked: readonly SpendingQuestion[]): Promise<readonly bigint[]> {
    const shared = await Promise.all(asked.map((one) => this.#run(keyOf(one), '')))
    const missing = asked.filter((_, index) => shared[index] === undefined)
    const sums = missing.length === 0 ? [] : await this.#ledger.spentNanoUsd(missing)
    await Promise.all(missing.map((one, index) => this.#run(keyOf(one), String(sums[index]))))
    let next = 0
    return shared.map((spent) => spent ?? sums[next++] ?? 0n)
  }

  async #run(key: string, spent: string): Promise<bigint | undefined> {
    if (!this.#connection.isReady) return undefined
    try {
      return await this.#connection.run(
        SPENT_SCRIPT,
        [key],
        JSON.stringify({ spent, ttl: FRESH_MS }),
        readAmount,
      )
    } catch {
      // The connection has reported it; the ledger has the sum.
      return undefined
    }
  }
}

function keyOf({ budgetId, window }: SpendingQuestion): string {
  return `torana:spent:{${budgetId}}:${window.startMs}`
}

function readAmount(reply: unknown): bigint | undefined {
  return typeof reply === 'string' ? BigInt(reply) : undefined
}
