/** Opens access: keys of callers, from the configuration and the store, and tokens of admins. */
import { randomBytes } from 'node:crypto'
import type { Budget } from '#core/money/budget.ts'
import { keyFrom } from '#core/keys/key.ts'
import { nodeCaller } from '#control/shared/caller.ts'
import type { AccessDependencies } from '#control/shared/authenticate.ts'
import { playerNow } from '#control/shared/players.ts'
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

export type Directory = Awaited<ReturnType<typeof openDirectory>>

export async function openDirectory(
  basics: Basics,
  { stores, catalog }: { readonly stores: Stores; readonly catalog: CatalogInForce },
) {
  const { settings, secrets, clock, log } = basics
  const peppers = peppersOf(secrets)
  const declared = new MemoryKeys(peppers.current.digestOf)
  const snapshot: KeySnapshot = new KeySnapshot({
    source: stores.keyStore,
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
  /** The budget of a project or a key as this node knows it now. */
  const budgetInForce = (budgetId: string): Budget | undefined =>
    declared.budgetInForce(budgetId) ?? snapshot.budgetInForce(budgetId)
  const players = {
    keyStore: stores.keyStore,
    declaredProjects: () => catalog.projects,
    reports: stores.reports,
    playground: basics.playground,
    nodeTokens: tokens.map(({ actor }) => actor),
  }
  return {
    /** For whatever goes on after its request. */
    terms: new NodeTerms({
      declared,
      snapshot,
      source: stores.keyStore,
      budgetInForce,
      playerNow: (player, project) => playerNow(player, project, players),
      clock,
    }),
    keys: declaredFirst(declared, snapshot),
    budgetInForce,
    peppers,
    /** Makes a new secret of a key, in Torana's own form. */
    newSecret: () => keyFrom(randomBytes(64), settings.cell),
    /** The caller that holds a token of the node itself. */
    callerOf: ((token, isLocal) => {
      const actor = settings.adminTokenOff && !isLocal ? undefined : actorOf(token)
      return actor === undefined ? undefined : nodeCaller(actor)
    }) satisfies AccessDependencies['callerOf'],
    /** Whether there was a key at the start. Without one no caller is let in. */
    hasKeys,
    /**
     * Why stored keys can't be judged yet, if so. Declared keys alone are not enough: to callers with stored keys it would be
     * the node that refuses all of them.
     */
    notReady: () =>
      snapshot.isLoaded
        ? undefined
        : 'this node has not read the stored keys yet: PostgreSQL is unreachable, and there is no copy of them in its data folder',
    [Symbol.asyncDispose]: () => polling.stop(),
  }
}
