import { postgresDirectory } from '#test/support/directory.ts'
import { auditLogSuite } from './audit-log.ts'
import { auditReadingSuite } from './audit-reading.ts'
import { credentialStoreSuite } from './credential-store.ts'
import { keyStoreSuite } from './key-store.ts'
import { MemoryConfiguration } from '#test/support/stores/configuration.ts'
import { storedConfigurationSuite, storedNamesSuite } from './stored-configuration.ts'

/** One server for all that is kept in the directory. */
const open = postgresDirectory()
for (const suite of [
  keyStoreSuite,
  credentialStoreSuite,
  auditReadingSuite,
  auditLogSuite,
  storedConfigurationSuite,
])
  suite('PostgreSQL', open)

storedNamesSuite('the double', async () => new MemoryConfiguration())
