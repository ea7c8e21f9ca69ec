import { memoryDirectory, postgresDirectory } from '#test/support/directory.ts'
import { auditLogSuite } from './audit-log.ts'
import { auditReadingSuite } from './audit-reading.ts'
import { credentialStoreSuite } from './credential-store.ts'
import { keyStoreSuite } from './key-store.ts'
import { storedUpstreamsSuite } from './stored-upstreams.ts'

/** Each engine is started once, for all that is kept in the directory. */
const engines = {
  memory: async () => memoryDirectory(),
  PostgreSQL: postgresDirectory(),
}

for (const [name, open] of Object.entries(engines)) {
  keyStoreSuite(name, open)
  credentialStoreSuite(name, open)
  auditReadingSuite(name, open)
  // What is in memory can't be changed from outside.
  if (name !== 'memory') auditLogSuite(name, open)
  // A node that keeps nothing can't be added to.
  if (name !== 'memory') storedUpstreamsSuite(name, open)
}
