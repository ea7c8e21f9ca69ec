/** Composition of webhooks: which project hears of what, where events wait, and who sends them. */
import type { ConfiguredWebhook, Project } from '#core/catalog.ts'
import type { ProxySettings } from '#core/settings.ts'
import type { Clock } from '#ports/clock.ts'
import { StoreAway } from '#ports/store.ts'
import type { WebhookOutbox, WebhooksFor } from '#ports/webhooks.ts'
import { MemoryWebhooks } from '#stores/memory/webhooks.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresWebhooks } from '#stores/postgres/jobs/webhooks.ts'
import { budgetReachedEvents } from '#stores/webhook-events.ts'
import type { Log } from '#telemetry/log.ts'
import { WebhookHttp } from '#upstreams/connect/webhook.ts'
import type { BudgetMark } from '#worker/books/budget-marks.ts'
import { WebhookSender } from '#worker/webhooks.ts'

export interface WebhookParts {
  readonly clock: Clock
  readonly log: Log
  readonly nodeId: string
  /** Undefined for a node that keeps nothing. */
  readonly database: Database | undefined
  readonly proxy: ProxySettings | undefined
  /** As configured now. */
  readonly projects: () => readonly Project[]
}

export interface Webhooks {
  readonly webhooksFor: WebhooksFor
  /** Where a node that keeps nothing lets its events wait. */
  readonly memory: MemoryWebhooks | undefined
  budgetMark(mark: BudgetMark): void
  stop(): Promise<void>
}

export function openWebhooks({ clock, log, nodeId, database, proxy, projects }: WebhookParts): Webhooks {
  const memory = database ? undefined : new MemoryWebhooks(clock)
  const outbox: WebhookOutbox = memory ?? new PostgresWebhooks(database as Database)
  const webhooksOf = (project: string): readonly ConfiguredWebhook[] =>
    projects().find(({ name }) => name === project)?.webhooks ?? []
  const webhooksFor: WebhooksFor = (project, type) =>
    webhooksOf(project).filter(({ events }) => events === undefined || events.includes(type))
  const guarded = new WebhookHttp({ clock, proxy })
  const open = new WebhookHttp({ clock, proxy, allowPrivate: true })
  const isPrivate = (url: string): boolean =>
    projects().some(({ webhooks = [] }) => webhooks.some((one) => one.url === url && one.isPrivate))
  const sending = new WebhookSender({
    nodeId,
    outbox,
    transport: { post: (post) => (isPrivate(post.url) ? open : guarded).post(post) },
    secretOf: (project, url) => webhooksOf(project).find((one) => one.url === url)?.secret,
    events: {
      sent: ({ id, url, type }) => log.info({ id, url, type }, 'a webhook was sent'),
      notSent: ({ id, url, type }, reason) => log.warn({ id, url, type, reason }, 'a webhook was not taken'),
      trouble(error) {
        if (!(error instanceof StoreAway)) log.error({ err: error }, 'webhooks could not be sent')
      },
    },
  }).start()
  return {
    webhooksFor,
    memory,
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
      const events = budgetReachedEvents(reached, clock.nowMs(), webhooksFor)
      if (events.length === 0) return
      outbox
        .enqueue(events)
        .catch((error: unknown) => log.error({ err: error }, 'an event of a budget was lost'))
    },
    async stop() {
      await sending.stop()
      await Promise.all([guarded.close(), open.close()])
    },
  }
}
