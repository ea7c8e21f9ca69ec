import type { BudgetWindow } from '#core/budget.ts'
import type { SpendingReader } from '#ports/budgets.ts'
import { readScript, type RedisConnection } from './connection.ts'

export const SPENT_SCRIPT = readScript(new URL('./spent.lua', import.meta.url))

/** How old a sum may be: the ledger is asked once in this time, however many nodes there are. */
const FRESH_MS = 2000

/** Sums of the ledger, shared between nodes by way of Redis. While Redis is away each node asks the ledger itself. */
export class RedisSpending implements SpendingReader {
  readonly #connection: RedisConnection
  readonly #ledger: SpendingReader

  constructor(connection: RedisConnection, ledger: SpendingReader) {
    this.#connection = connection
    this.#ledger = ledger
  }

  async spentNanoUsd(budgetId: string, window: BudgetWindow): Promise<bigint> {
    const key = `torana:spent:{${budgetId}}:${window.startMs}`
    const shared = await this.#run(key, '')
    if (shared !== undefined) return shared
    const spent = await this.#ledger.spentNanoUsd(budgetId, window)
    await this.#run(key, String(spent))
    return spent
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
      // The connection has said so; the ledger knows.
      return undefined
    }
  }
}

function readAmount(reply: unknown): bigint | undefined {
  return typeof reply === 'string' ? BigInt(reply) : undefined
}
