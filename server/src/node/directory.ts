/** Opens access: keys of callers, from the configuration and the store, and tokens of admins. */
import { randomBytes } from 'node:crypto'
import type { Budget } from '#core/money/budget.ts'
import { keyFrom } from '#core/keys/key.ts'
import { nodeCaller } from '#control/shared/caller.ts'
import type { AccessDependencies } from '#control/shared/authenticate.ts'
import { playerNow } from '#control/shared/players.ts'
import type { Peppers } from '#ports/key-store.ts'
import type { KeyDirectory, TermsInForce } from '#ports/keys.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { adminTokens, loadAdminToken, peppersOf } from '#runtime/secret.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { pollKeys } from '#worker/keys/key-polling.ts'
import { declaredFirst } from '#worker/keys/declared-first.ts'
import { keyStoreLog } from '#telemetry/store-log.ts'
import { KeySnapshot } from '#worker/keys/key-snapshot.ts'
import { NodeTerms } from '#worker/keys/node-terms.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Stores } from './stores.ts'

export interface Directory extends AsyncDisposable {
  readonly keys: KeyDirectory
  /** The budget of a project or a key as this node knows it now. */
  readonly budgetInForce: (budgetId: string) => Budget | undefined
  /** For whatever goes on after its request. */
  readonly terms: TermsInForce
  readonly peppers: Peppers
  /** Makes a new secret of a key, in Torana's own form. */
  readonly newSecret: () => string
  /** The caller that holds a token of the node itself. */
  readonly callerOf: AccessDependencies['callerOf']
  /** Whether there was a key at the start. Without one no caller is let in. */
  readonly hasKeys: boolean
  /** Why stored keys can't be judged yet, if so. */
  readonly notReady: () => string | undefined
}

export interface DirectoryParts {
  readonly stores: Pick<Stores, 'keys' | 'keyFile' | 'pulse' | 'reportDatabase'>
  readonly catalog: CatalogInForce
}

export async function openDirectory(basics: Basics, { stores, catalog }: DirectoryParts): Promise<Directory> {
  const { settings, secrets, clock, log } = basics
  const peppers = peppersOf(secrets)
  const declared = new MemoryKeys(peppers.current.digestOf)
  const snapshot: KeySnapshot = new KeySnapshot({
    source: stores.keys,
    peppers,
    clock,
    file: stores.keyFile,
    onChange: () => catalog.refresh(),
    onTrouble: keyStoreLog(log, () => snapshot.size),
  })
  await snapshot.start()
  const polling = pollKeys(
    snapshot,
    (error) => log.error({ err: error }, 'stored keys could not be refreshed'),
    stores.pulse,
  )
  await catalog.followProjects(async (projects) => {
    const replace = await declared.prepare(projects, yieldLoop)
    return () => {
      replace()
      snapshot.setDeclared(projects)
    }
  })
  const hasKeys = snapshot.size > 0 || declared.size > 0
  if (!hasKeys) log.warn('there are no keys: every request is refused')

  const tokens = [{ actor: 'local-admin', token: loadAdminToken(settings.dataDir) }]
  if (settings.adminToken !== undefined) tokens.push({ actor: 'admin-token', token: settings.adminToken })
  const actorOf = adminTokens(tokens)
  const budgetInForce = (budgetId: string): Budget | undefined =>
    declared.budgetInForce(budgetId) ?? snapshot.budgetInForce(budgetId)
  const players = {
    keyStore: stores.keys,
    declaredProjects: () => catalog.projects,
    reports: stores.reportDatabase,
    playground: basics.playground,
    nodeTokens: tokens.map(({ actor }) => actor),
  }
  return {
    terms: new NodeTerms({
      declared,
      snapshot,
      source: stores.keys,
      budgetInForce,
      playerNow: (player, project) => playerNow(player, project, players),
      clock,
    }),
    keys: declaredFirst(declared, snapshot),
    budgetInForce,
    peppers,
    newSecret: () => keyFrom(randomBytes(64), settings.cell),
    callerOf: (token, isLocal) => {
      const actor = settings.adminTokenOff && !isLocal ? undefined : actorOf(token)
      return actor === undefined ? undefined : nodeCaller(actor)
    },
    hasKeys,
    // Declared keys alone are not enough: to callers with stored keys it would be the node that refuses all of them.
    notReady: () =>
      snapshot.isLoaded
        ? undefined
        : 'this node has not read the stored keys yet: PostgreSQL is unreachable, and there is no copy of them in its data folder',
    [Symbol.asyncDispose]: () => polling.stop(),
  }
}
