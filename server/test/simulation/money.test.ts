import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { memoryLedger, postgresLedger } from '#test/contract/open-ledger.ts'
import { runs } from '#test/support/arbitraries.ts'
import { moneyCommands, runMoney } from './money-commands.ts'
import { fileWorld, memoryWorld } from './money-world.ts'

test('whatever happens to nodes that keep their ledger in memory, the money is right', async () => {
  await fc.assert(
    fc.asyncProperty(moneyCommands(30), async (commands) => {
      await runMoney(memoryWorld(await memoryLedger()), commands)
    }),
    runs(1000),
  )
})

test('whatever happens to nodes on PostgreSQL and real files, the money is right', async () => {
  const stores = await postgresLedger()
  const limiter = () => new MemoryLimiter({ nowMs: () => 0, monotonicMs: () => 0 }, () => 1)
  await fc.assert(
    fc.asyncProperty(moneyCommands(30), async (commands) => {
      await runMoney(fileWorld(stores, limiter()), commands)
    }),
    runs(40),
  )
})
