/** The stores of keys, credentials and audit on one engine, empty, for tests. */
import { randomBytes } from 'node:crypto'
import { keyFrom, keyTail } from '#core/keys/key.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { KeyStore, NewSecret } from '#ports/key-store.ts'
import { systemClock } from '#runtime/clock.ts'
import { peppersOf, sealingKeysOf, type NodeSecrets } from '#runtime/secret.ts'
import { MemoryAudit } from '#test/support/stores/audit.ts'
import { MemoryCredentials } from '#test/support/stores/credentials.ts'
import { MemoryKeyStore } from '#test/support/stores/key-store.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { PostgresCredentials } from '#stores/postgres/directory/credentials.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import { testDatabase, testPglite } from './pglite.ts'
import { reused } from './reused-database.ts'

export interface Directory {
  readonly keyStore: KeyStore
  readonly audit: AuditLog
  readonly credentials: (secrets: NodeSecrets) => CredentialStore
}

/** A directory that a test can look into. */
export interface DatabaseDirectory extends Directory {
  readonly database: Database
}

export const SECRETS: NodeSecrets = { current: 'the secret of these tests', previous: undefined }

const EMPTY =
  'TRUNCATE key_secrets, declared_key_uses, keys, projects, upstream_credentials, configuration_objects, configuration_changes, prices, deployment_drains, space_standings, price_changes, audit; UPDATE directory_version SET version = 1'

export function memoryDirectory(): Directory {
  const audit = new MemoryAudit(systemClock)
  const keyStore = new MemoryKeyStore(systemClock, audit)
  const credentials = new MemoryCredentials(systemClock, audit, () => keyStore.directoryChanged())
  return { keyStore, audit, credentials: () => credentials }
}

function databaseDirectory(database: Database): DatabaseDirectory {
  return {
    keyStore: new PostgresKeys(database),
    audit: new PostgresAudit(database, systemClock),
    credentials: (secrets) => new PostgresCredentials(database, sealingKeysOf(secrets)),
    database,
  }
}

export const postgresDirectory = () => reused(testDatabase, EMPTY, databaseDirectory)

export const pgliteDirectory = () => reused(testPglite, EMPTY, databaseDirectory)

/** A secret that no other test has, and its record for a store. */
export function someSecret(secrets = SECRETS): { readonly secret: string; readonly stored: NewSecret } {
  const secret = keyFrom(randomBytes(64))
  return { secret, stored: digested(secret, secrets) }
}

export function digested(secret: string, secrets = SECRETS): NewSecret {
  const { current } = peppersOf(secrets)
  return { digest: current.digestOf(secret), pepper: current.id, tail: keyTail(secret) }
}
