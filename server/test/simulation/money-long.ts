/**
 * The same simulation for any length: `npm run lab -- simulation/money --histories 20000 --postgres 500 --seed
 * 7`. Prints the seed of each run and how often each event happened; a failure prints the path that leads to
 * it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { RedisConnection } from '#stores/redis/connection.ts'
import { RedisLimiter } from '#stores/redis/limiter.ts'
import { TAKE_SCRIPT } from '#stores/redis/take.ts'
import { memoryLedger, postgresLedger } from '#test/contract/open-ledger.ts'
import { startRedis } from '#test/support/redis.ts'
import { moneyCommands, runMoney } from './money-commands.ts'
import { fileWorld, memoryWorld, type World } from './money-world.ts'

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '20000' },
    postgres: { type: 'string', default: '500' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
})
const [inMemory, onPostgres, givenSeed] = [values.histories, values.postgres, values.seed].map(Number) as [
  number,
  number,
  number,
]
const COMMANDS_MAX = 60

async function run(name: string, numRuns: number, newWorld: () => Promise<World>): Promise<void> {
  const seed = givenSeed
  const startedMs = performance.now()
  const totals = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(moneyCommands(COMMANDS_MAX), async (commands) => {
      for (const [what, times] of await runMoney(await newWorld(), commands))
        totals.set(what, (totals.get(what) ?? 0) + times)
    }),
    { numRuns, seed },
  )
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  console.log(`${name}: ${numRuns} sequences, seed ${seed}, ${seconds} s, no counterexample`)
  for (const [what, times] of [...totals].toSorted(([, a], [, b]) => b - a)) console.log(`  ${times} ${what}`)
}

test('in memory', () => run('memory', inMemory, async () => memoryWorld(await memoryLedger())))

test('on PostgreSQL, with real files and Redis', { skip: onPostgres === 0 }, async () => {
  const [stores, redis] = [await postgresLedger(), await startRedis()]
  const connection = new RedisConnection({
    url: redis.url,
    scripts: [TAKE_SCRIPT],
    replyDeadlineMs: 10_000,
    onError: (error) => assert.fail(error),
  })
  await connection.open()
  const fallback = {
    take: () => assert.fail('decided without Redis'),
    correct: () => assert.fail('corrected without Redis'),
  }
  const nowMicroseconds = Date.now() * 1000
  await run('PostgreSQL', onPostgres, async () =>
    fileWorld(
      stores,
      new RedisLimiter({ connection, fallback, fixedNowMicroseconds: () => nowMicroseconds }),
    ),
  )
  connection.close()
})
