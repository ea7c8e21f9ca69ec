import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#runtime/clock.ts'
import { MemoryAudit } from '#stores/memory/audit.ts'
import { MemorySpaces } from '#stores/memory/spaces.ts'
import { postgresDirectory } from '#test/support/directory.ts'
import { aResult, databaseSpaces, MODEL, spaceStoreSuite, START_MS, type SpacesWorld } from './spaces.ts'

async function memorySpaces(): Promise<SpacesWorld> {
  const audit = new MemoryAudit(systemClock)
  return { spaces: new MemorySpaces(audit), audit, database: undefined }
}

spaceStoreSuite('memory', memorySpaces, 300)
spaceStoreSuite('PostgreSQL', databaseSpaces(postgresDirectory()), 20)

test('memory: only so many points are kept', async () => {
  const spaces = new MemorySpaces(new MemoryAudit(systemClock), 3)
  for (let index = 0; index < 5; index += 1) await spaces.record(aResult({ atMs: START_MS + index }))
  assert.equal((await spaces.series(MODEL, { sinceMs: 0, limit: 100 })).length, 3)
})
