/** Composition of webhooks: which project hears of what, where events wait, and what sends them. */
import type { ConfiguredWebhook } from '#core/configured-webhook.ts'
import { tasksOf } from '#core/node-role.ts'
import { StoreAway } from '#ports/store.ts'
import type { WebhooksFor } from '#ports/webhooks.ts'
import { budgetReachedEvents } from '#stores/webhook-events.ts'
import type { Log } from '#telemetry/log.ts'
import { WebhookHttp } from '#upstreams/connect/webhook.ts'
import type { BudgetMark } from '#worker/books/budget-marks.ts'
import { WebhookSender, type WebhookSenderEvents } from '#worker/webhooks.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Stores } from './stores.ts'

export interface WebhookParts {
  readonly stores: Pick<Stores, 'nodeId' | 'webhooks'>
  readonly catalog: CatalogInForce
}

export interface Webhooks extends AsyncDisposable {
  readonly budgetMark: (mark: BudgetMark) => void
}

export function openWebhooks(basics: Basics, { stores, catalog }: WebhookParts): Webhooks {
  const { settings, clock, log } = basics
  const outbox = stores.webhooks
  const guarded = new WebhookHttp({ clock, proxy: settings.proxy })
  const open = new WebhookHttp({ clock, proxy: settings.proxy, allowPrivate: true })
  const isPrivate = (url: string): boolean =>
    catalog.declared.projects.some(({ webhooks = [] }) =>
      webhooks.some((one) => one.url === url && one.isPrivate),
    )
  const sender = new WebhookSender({
    nodeId: stores.nodeId,
    outbox,
    transport: { post: (post) => (isPrivate(post.url) ? open : guarded).post(post) },
    secretOf: (project, url) => webhooksOf(catalog, project).find((one) => one.url === url)?.secret,
    events: loggedTo(log),
  })
  const sending = tasksOf(settings.role).doesChores ? sender.start() : undefined
  return {
    budgetMark({ budget, windowStartMs, percent, spentNanoUsd }) {
      const [, owner = ''] = budget.id.split(':')
      const [project = ''] = owner.split('/')
      const reached = {
        project,
        budgetId: budget.id,
        windowStartMs,
        percent,
        spentNanoUsd,
        limitNanoUsd: budget.limitNanoUsd,
      }
      const events = budgetReachedEvents(reached, clock.nowMs(), webhooksFor(catalog))
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

/** Which webhooks of a project ask for events of a type, as configured now. */
export function webhooksFor(catalog: CatalogInForce): WebhooksFor {
  return (project, type) =>
    webhooksOf(catalog, project).filter(({ events }) => events === undefined || events.includes(type))
}

function webhooksOf(catalog: CatalogInForce, project: string): readonly ConfiguredWebhook[] {
  return catalog.declared.projects.find(({ name }) => name === project)?.webhooks ?? []
}

export function loggedTo(log: Pick<Log, 'info' | 'warn' | 'error'>): WebhookSenderEvents {
  return {
    sent: ({ id, url, type }) => log.info({ id, receiver: originOf(url), type }, 'a webhook was sent'),
    notSent: ({ id, url, type }, reason) =>
      log.warn({ id, receiver: originOf(url), type, reason }, 'the receiver did not accept a webhook'),
    trouble(error) {
      if (!(error instanceof StoreAway)) log.error({ err: error }, 'webhooks could not be sent')
    },
  }
}

/** The path of an address is a secret at many receivers: whoever knows it can post there. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? ''
}
