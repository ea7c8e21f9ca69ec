/** Composition of who may call and with what: keys of the configuration and of the store, credentials, admin tokens. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Catalog, Project } from '#core/catalog.ts'
import { keyFrom } from '#core/key.ts'
import type { Settings } from '#core/settings.ts'
import type { ApiDependencies } from '#http/control/route.ts'
import type { Clock } from '#ports/clock.ts'
import type { KeyDirectory } from '#ports/keys.ts'
import { lastKnown, withCredentials } from '#worker/keys/credentials.ts'
import { declaredFirst, KeySnapshot } from '#worker/keys/key-snapshot.ts'
import {
  adminTokens,
  loadAdminToken,
  loadSecret,
  peppersOf,
  sealingKeysOf,
  snapshotKeysOf,
} from '#runtime/secret.ts'
import { keySnapshotFile } from '#stores/key-snapshot-file.ts'
import type { MemoryAudit } from '#stores/memory/audit.ts'
import { MemoryCredentials } from '#stores/memory/credentials.ts'
import { MemoryKeyStore } from '#stores/memory/key-store.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { PostgresCredentials } from '#stores/postgres/directory/credentials.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import type { Log } from '#telemetry/log.ts'
import { pollKeys } from '#worker/keys/key-polling.ts'

export interface Directory {
  readonly keys: KeyDirectory
  readonly api: Pick<
    ApiDependencies,
    'keyStore' | 'credentials' | 'audit' | 'peppers' | 'newSecret' | 'actorOf'
  >
  /** Why no key could be judged yet, if so. */
  notReady(): string | undefined
  /** How many keys the store holds. */
  readonly storedKeys: number
  /** The projects of the configuration, all at once. */
  declare(projects: readonly Project[]): void
  /** The catalog with the credentials that the store keeps for its upstreams. */
  withCredentials(catalog: Catalog): Promise<Catalog>
  stop(): Promise<void>
}

export interface DirectoryParts {
  readonly clock: Clock
  readonly log: Log
  /** Undefined for a node that keeps nothing. */
  readonly database: Database | undefined
  /** Where such a node writes what people do. */
  readonly memoryAudit: MemoryAudit
  /** Keys, projects or credentials were changed, here or on another node. */
  readonly onChange: () => void
}

export async function openDirectory(settings: Settings, parts: DirectoryParts): Promise<Directory> {
  const { clock, log, database, memoryAudit } = parts
  const secrets = {
    current: loadSecret(settings.secret, settings.dataDir),
    previous: settings.previousSecret,
  }
  const peppers = peppersOf(secrets)
  const stores = database
    ? {
        keyStore: new PostgresKeys(database),
        credentials: new PostgresCredentials(database, sealingKeysOf(secrets)),
        audit: new PostgresAudit(database),
      }
    : memoryStores(clock, memoryAudit)

  const declared = new MemoryKeys(peppers.current.digestOf)
  const snapshot = new KeySnapshot({
    source: stores.keyStore,
    peppers,
    clock,
    file: database && keySnapshotFile(join(settings.dataDir, 'keys.snapshot'), snapshotKeysOf(secrets)),
    onChange: parts.onChange,
    onTrouble(trouble) {
      if (trouble) log.error({ err: trouble }, 'the key store is away; keys in use stay known for an hour')
      else log.info('the key store is back')
    },
  })
  await snapshot.start()
  const polling = pollKeys(snapshot, (error) =>
    log.error({ err: error }, 'stored keys could not be refreshed'),
  )

  const tokens = [{ actor: 'local-admin', token: loadAdminToken(settings.dataDir) }]
  if (settings.adminToken !== undefined) tokens.push({ actor: 'admin-token', token: settings.adminToken })
  const known = lastKnown(stores.credentials)
  return {
    keys: declaredFirst(declared, snapshot),
    api: {
      ...stores,
      peppers,
      newSecret: () => keyFrom(randomBytes(64)),
      actorOf: adminTokens(tokens),
    },
    notReady: () =>
      snapshot.isLoaded || declared.size > 0 ? undefined : 'no key is known yet: the key store is away',
    get storedKeys() {
      return snapshot.size
    },
    declare(projects) {
      declared.replace(projects)
      snapshot.setDeclared(projects)
    },
    async withCredentials(catalog) {
      const { catalog: complete, problems } = await withCredentials(catalog, known)
      for (const problem of problems) log.warn(problem)
      return complete
    },
    stop: () => polling.stop(),
  }
}

function memoryStores(
  clock: Clock,
  audit: MemoryAudit,
): Pick<ApiDependencies, 'keyStore' | 'credentials' | 'audit'> {
  const keyStore = new MemoryKeyStore(clock, audit)
  return {
    keyStore,
    audit,
    credentials: new MemoryCredentials(clock, audit, () => keyStore.directoryChanged()),
  }
}
