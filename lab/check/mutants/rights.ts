/** Faults of rights: who may see, use and change what. */
import type { Mutant } from './mutant.ts'

export const RIGHTS: readonly Mutant[] = [
  {
    id: 'M26',
    says: 'a read-only token may write',
    file: 'control/shared/caller.ts',
    old: `  if (caller.isReadOnly && !isReading(method)) throw new Fault('forbidden', \`\${caller.actor} may read only.\`)
`,
    new: '',
    tests: ['src/control/shared/*.test.ts'],
  },
  {
    id: 'M27',
    says: 'a developer reads a key of another project',
    file: 'control/keys/routes.ts',
    old: `      checkSeen(callerIn(request), project, \`key \${project}/\${keyName}\`)
`,
    new: '',
    tests: ['test/http/control/security-table.test.ts'],
  },
  {
    id: 'M28',
    says: 'operators may loosen keys',
    file: 'core/access/permission.ts',
    old: `    'unknowns.resolve',
`,
    new: `    'unknowns.resolve',
    'keys.loosen',
`,
    tests: ['src/core/access/*.test.ts'],
  },
  {
    id: 'M29',
    says: 'a key file from the future is believed',
    file: 'worker/keys/key-snapshot.ts',
    old: 'if (Math.abs(ageMs) < STALE_KEYS_MS)',
    new: 'if (ageMs < STALE_KEYS_MS)',
    tests: ['test/contract/key-snapshot.test.ts'],
  },
  {
    id: 'M30',
    says: 'the last use of a key is noted for every request',
    file: 'worker/keys/key-snapshot.ts',
    old: 'if (nowMs - entry.notedAtMs >= USE_NOTED_MS)',
    new: 'if (nowMs >= entry.notedAtMs)',
    tests: ['src/worker/keys/key-snapshot.test.ts'],
  },
  {
    id: 'M34',
    says: 'two projects may have the same secret',
    file: 'config/build/projects.ts',
    old: `if (owner) report.problem(path, \`is the same secret as \${owner}: each key needs its own\`)
  else owners.set(secret, holder)`,
    new: 'owners.set(secret, holder)',
    tests: ['src/config/file/positions.test.ts'],
  },
  {
    id: 'M35',
    says: 'a Redis with its default port written out is another one',
    file: 'config/same-redis.ts',
    old: '(first.port || DEFAULT_PORT) === (second.port || DEFAULT_PORT)',
    new: 'first.port === second.port',
    tests: ['src/config/same-redis.test.ts'],
  },
  {
    id: 'M36',
    says: 'a member’s session may be used by a page of another site',
    file: 'control/shared/authenticate.ts',
    old: `  if (!isReading(request.method)) node.transports.checkOrigin(request)
`,
    new: '',
    tests: ['src/control/shared/authenticate.test.ts'],
  },
  {
    id: 'M44',
    says: 'a key is valid at the moment at which it expires',
    file: 'request/access/authenticate.ts',
    old: 'clock.nowMs() >= key.expiresAtMs',
    new: 'clock.nowMs() > key.expiresAtMs',
    tests: ['src/request/access/*.test.ts'],
  },
  {
    id: 'M45',
    says: 'the store is asked for each wrong key of an address that sends many',
    file: 'request/access/authenticate.ts',
    old: 'keys.find(secret, waitMs === 0)',
    new: 'keys.find(secret)',
    tests: ['src/request/access/*.test.ts'],
  },
  {
    id: 'M46',
    says: 'wrong tokens of an address are not counted',
    file: 'control/shared/authenticate.ts',
    old: `  failedTokens.note(client, fault)
`,
    new: '',
    tests: ['src/control/shared/authenticate.test.ts'],
  },
  {
    id: 'M47',
    says: 'a session cookie for plain connections is accepted on a public one',
    file: 'control/shared/authenticate.ts',
    old: `  if (!cookie.isSecure) node.transports.checkPrivate(request)
`,
    new: '',
    tests: ['src/control/shared/authenticate.test.ts'],
  },
  {
    id: 'M48',
    says: 'a list may be narrowed to a project of others',
    file: 'control/shared/caller.ts',
    old: `  if (projects !== null && !projects.includes(asked))
    throw new Fault('forbidden', \`\${actor} is no member of the project \${asked}.\`, { param: 'project' })
`,
    new: '',
    tests: ['src/control/shared/caller.test.ts'],
  },
]
