/** Opens webhooks: what sends the events that wait for them. */
import { isPrivateReceiver, webhooksFor, webhooksOf } from '#core/catalog/webhook.ts'
import { projectOf } from '#core/money/budget.ts'
import { tasksOf } from '#core/node/node-role.ts'
import type { WebhooksFor } from '#ports/webhooks.ts'
import { budgetReachedEvents } from '#stores/webhook-events.ts'
import { webhookLog } from '#telemetry/webhook-log.ts'
import { WebhookHttp } from '#upstreams/connect/webhook.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { BudgetMark } from '#worker/ledger/budget-marks.ts'
import { WebhookSender } from '#worker/webhooks.ts'
import type { Basics } from './basics.ts'
import type { Stores } from './stores.ts'

export function openWebhooks(
  basics: Basics,
  { stores, catalog }: { readonly stores: Stores; readonly catalog: CatalogInForce },
) {
  const { settings, clock, log } = basics
  const outbox = stores.webhooks
  const guarded = new WebhookHttp({ clock, proxy: settings.proxy })
  const open = new WebhookHttp({ clock, proxy: settings.proxy, allowPrivate: true })
  const httpFor = (url: string): WebhookHttp =>
    isPrivateReceiver(catalog.declared.projects, url) ? open : guarded
  const sender = new WebhookSender({
    nodeId: stores.nodeId,
    outbox,
    transport: { post: (post) => httpFor(post.url).post(post) },
    secretOf: (project, url) =>
      webhooksOf(catalog.declared.projects, project).find((one) => one.url === url)?.secret,
    events: webhookLog(log),
    repeat: stores.pulse.on('webhooks'),
  })
  const sending = tasksOf(settings.role).doesChores ? sender.start() : undefined
  return {
    budgetMark({ budget: { id: budgetId, limitNanoUsd }, ...mark }: BudgetMark): void {
      const reached = { ...mark, project: projectOf(budgetId), budgetId, limitNanoUsd }
      const events = budgetReachedEvents(reached, clock.nowMs(), webhooksIn(catalog))
      if (events.length === 0) return
      outbox
        .enqueue(events)
        .catch((error: unknown) => log.error({ err: error }, 'a budget event could not be stored'))
    },
    async [Symbol.asyncDispose]() {
      await sending?.stop()
      await Promise.all([guarded.close(), open.close()])
    },
  }
}

/** The webhooks of the catalog in force. */
export function webhooksIn(catalog: CatalogInForce): WebhooksFor {
  return (project, type) => webhooksFor(catalog.declared.projects, project, type)
}
