import { postgresDirectory } from '#test/support/directory.ts'
import { MemoryAudit } from '#test/support/stores/audit.ts'
import { MemorySpaces } from '#test/support/stores/spaces.ts'
import { familyStoreSuite } from './families.ts'
import { databaseSpaces, spaceStoreSuite, START_MS } from './spaces.ts'

const open = databaseSpaces(postgresDirectory())
spaceStoreSuite('PostgreSQL', open, 20)
familyStoreSuite('PostgreSQL', open)
familyStoreSuite('memory', async () => ({
  spaces: new MemorySpaces(new MemoryAudit({ nowMs: () => START_MS, monotonicMs: () => 0 })),
}))
