import { test } from 'node:test'
import fc from 'fast-check'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { memoryBooks, postgresBooks } from '#test/contract/open-books.ts'
import { moneyCommands, runMoney } from './money-commands.ts'
import { fileWorld, memoryWorld } from './money-world.ts'

test('whatever happens to nodes that keep their books in memory, the money is right', async () => {
  await fc.assert(
    fc.asyncProperty(moneyCommands(30), async (commands) => {
      await runMoney(memoryWorld(await memoryBooks()), commands)
    }),
    { numRuns: 1000 },
  )
})

test('whatever happens to nodes on PostgreSQL and real files, the money is right', async () => {
  const books = await postgresBooks()
  const limiter = () => new MemoryLimiter({ nowMs: () => 0, monotonicMs: () => 0 }, () => 1)
  await fc.assert(
    fc.asyncProperty(moneyCommands(30), async (commands) => {
      await runMoney(fileWorld(books, limiter()), commands)
    }),
    { numRuns: 40 },
  )
})
