/** The routes about the ledger as a separate server, over the ledger of one engine. Permissions are tested with the API. */
import { registerBudgets } from '#control/budgets/routes.ts'
import { registerLedger } from '#control/ledger/routes.ts'
import { registerUnknowns } from '#control/unknowns/routes.ts'
import { registerUsageExport } from '#control/usage/export-routes.ts'
import { registerUsage } from '#control/usage/routes.ts'
import { registerNodes } from '#control/nodes/routes.ts'
import type { ControlNode } from '#control/shared/node.ts'
import type { Project } from '#core/catalog/catalog.ts'
import { nodeCaller, type Caller } from '#control/shared/caller.ts'
import type { Settings } from '#core/settings.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import { withReachable } from '#stores/postgres/unreachable.ts'
import { startScope } from './control-scope.ts'
import type { LedgerStores } from './ledger-stores.ts'
import { absent } from './stores/absent.ts'
import { unusedLake } from './lake.ts'

export const QUIET_NODE: NodeFigures = {
  isStoreUnreachable: false,
  spoolWaiting: 0,
  journalOpen: 0,
  hasConfigFile: false,
  diskFailure: undefined,
  clockSkewMs: 0,
  configRefusal: undefined,
  limiter: undefined,
}

/** A node without models, images, TLS and shared cache, whose database runs inside the process. */
const QUIET_SURROUNDINGS: Partial<ControlNode> = {
  settings: { database: { kind: 'inside', folder: '' } } as Settings,
  catalog: () => ({ models: new Map(), retired: new Map(), projects: [] }),
  scheduler: { states: () => [] },
  diskSpace: async () => undefined,
  imageStore: { list: async () => [] },
  imagesWaiting: async () => 0,
  certificate: () => undefined,
  sharedCache: () => undefined,
  summaries: async () => [],
  nodeFigures: () => QUIET_NODE,
  limiterMemory: async () => undefined,
  isPoolerUnfit: async () => undefined,
}

export async function startLedgerControl(
  stores: LedgerStores,
  overrides: Partial<ControlNode & { caller: Caller; declared: readonly Project[] }> = {},
) {
  const { database, ledger, reconciler, upkeep, audit, clock } = stores
  // A new ledger begins now, which is another moment by the clock of these tests.
  await database.query('UPDATE ledger_seal SET compared_through = $1, compared_at = $1, sealed_at = $1', [
    new Date(clock.nowMs()),
  ])
  const ask = await startScope(
    (scope) => {
      const reports = withReachable(database)
      const lake = unusedLake(database)
      registerUnknowns(scope, { ledger, reports, clock })
      registerUsageExport(scope, { reports, clock, lake })
      registerLedger(scope, { lake: overrides.lake ?? lake, reconciler, clock, reports, ledger })
      registerUsage(scope, { reports, clock })
      registerBudgets(scope, { reports, declaredProjects: () => overrides.declared ?? [], clock })
      registerNodes(
        scope,
        absent('part of a node', {
          ...QUIET_SURROUNDINGS,
          clock,
          reports,
          lake,
          audit,
          reconciler,
          makePartitions: () => upkeep.makePartitions(),
          ...overrides,
        }),
      )
    },
    () => overrides.caller ?? nodeCaller('tester'),
  )
  return { url: ask.url, ask }
}
