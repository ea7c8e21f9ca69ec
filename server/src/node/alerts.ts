/** Opens alerts: what watches their rules, and what sends their notices. */
import { openAttention } from '#control/overview/open.ts'
import { listBudgets } from '#control/budgets/queries.ts'
import { budgetsIn } from '#control/budgets/rules.ts'
import { cachedFor } from '#control/shared/cached-for.ts'
import { NO_ALERTS } from '#core/alerts/rule.ts'
import { tasksOf } from '#core/node/node-role.ts'
import { alertLog } from '#telemetry/alert-log.ts'
import { alertTransport } from '#upstreams/connect/alert-transport.ts'
import { WebhookHttp } from '#upstreams/connect/webhook.ts'
import { AlertSender } from '#worker/alerts/sender.ts'
import { AlertWatch } from '#worker/alerts/watch.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'
import type { Live } from './live.ts'
import type { Spaces } from './spaces.ts'
import type { Stores } from './stores.ts'

interface AlertParts {
  readonly stores: Stores
  readonly catalog: CatalogInForce
  readonly live: Pick<Live, 'drains' | 'summaries'>
  readonly spaces: Pick<Spaces, 'guard'>
  readonly controlUrl: string
}

/** Interval of checks of the rules: what starts is announced within seconds. */
const CHECK_MS = 3000
/** Time for which sums of budgets are used again: a page of them reads many rows. */
const BUDGETS_MS = 10_000
/** Budgets that are watched, the fullest first. */
const MAX_BUDGETS = 500

export function openAlerts(basics: Basics, parts: AlertParts) {
  const { settings, clock, log } = basics
  const { stores, catalog } = parts
  const guarded = new WebhookHttp({ clock, proxy: settings.proxy })
  const open = new WebhookHttp({ clock, proxy: settings.proxy, allowPrivate: true })
  const transport = alertTransport({ clock, guarded, open, smtp: settings.smtp })
  const events = alertLog(log)
  const declared = () => catalog.declared.alerts ?? NO_ALERTS
  const sender = new AlertSender({
    outbox: stores.alertOutbox,
    transport,
    targetOf: async (channel) =>
      declared().channels.find(({ id }) => id === channel)?.target ?? (await stores.alerts.target(channel)),
    nowMs: () => clock.nowMs(),
    events,
    repeat: stores.pulse.on('notices'),
  })
  const watch = watchOf(basics, parts, declared)
  const chores = tasksOf(settings.role).doesChores
    ? [
        sender.start(),
        every(
          CHECK_MS,
          async () => {
            const hasRules = declared().rules.some(({ isOn }) => isOn)
            if (hasRules || stores.pulse.may('alerts')) await watch.check()
          },
          (error) => events.trouble(error),
        ),
      ]
    : []
  return {
    transport,
    async [Symbol.asyncDispose]() {
      await Promise.all(chores.map((chore) => chore.stop()))
      await Promise.all([guarded.close(), open.close()])
    },
  }
}

function watchOf(
  { settings, clock, identifiers, log }: Basics,
  { stores, catalog, live, spaces, controlUrl }: AlertParts,
  declared: () => typeof NO_ALERTS,
): AlertWatch {
  return new AlertWatch({
    store: stores.alerts,
    outbox: stores.alertOutbox,
    declared,
    isLeader: stores.isEldest,
    attention: openAttention({
      catalog: () => catalog.current,
      clock,
      declaredProjects: () => catalog.projects,
      isDrained: (deployment) => live.drains.of(deployment) !== undefined,
      reconciler: stores.forControl.reconciler,
      reports: stores.reports,
      spaceGuard: spaces.guard,
      summaries: live.summaries,
    }),
    budgets: cachedFor(
      BUDGETS_MS,
      () => clock.monotonicMs(),
      async () => {
        const question = { limit: MAX_BUDGETS }
        const found = await listBudgets(stores.reports, budgetsIn(catalog.projects), question, clock.nowMs())
        return found.map(({ id, limit_nano, spent_nano, per, hard }) => ({
          id,
          limitNanoUsd: limit_nano,
          spentNanoUsd: spent_nano,
          per,
          hard,
        }))
      },
    ),
    certificates: async () =>
      (await live.summaries()).flatMap(({ node, certificateEndsMs: endsAtMs }) =>
        endsAtMs === undefined ? [] : [{ node, endsAtMs }],
      ),
    history: stores.history,
    clock,
    identifiers,
    installation: settings.name ?? '',
    consoleUrl: settings.consoleUrl ?? controlUrl,
    events: alertLog(log),
  })
}
