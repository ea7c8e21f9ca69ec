/** Opens what sends the audit to its receivers: webhooks of torana.yaml, and the OTLP receiver of the environment. */
import type { ConfiguredWebhook } from '#core/catalog/webhook.ts'
import { tasksOf } from '#core/node/node-role.ts'
import type { OtlpSettings } from '#core/settings.ts'
import type { ReceiverState } from '#ports/audit-receivers.ts'
import { WEBHOOK_TIMEOUT_MS, type WebhookTransport } from '#ports/webhooks.ts'
import { auditEvent } from '#stores/webhook-events.ts'
import { encodeEntries } from '#telemetry/audit-records.ts'
import { auditSenderLog } from '#telemetry/audit-sender-log.ts'
import { encodeExport } from '#telemetry/otlp-message.ts'
import { postOtlp } from '#telemetry/otlp-post.ts'
import { AuditSender, type AuditTarget } from '#worker/audit-sender.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import { otlpSenderOf, type Basics } from './basics.ts'
import type { Stores } from './stores.ts'
import type { Webhooks } from './webhooks.ts'

export interface AuditReceiverParts {
  readonly stores: Pick<Stores, 'auditReceivers'>
  readonly catalog: Pick<CatalogInForce, 'declared'>
  readonly webhooks: Pick<Webhooks, 'transport'>
}

export interface OpenAuditReceivers extends AsyncDisposable {
  /** What each configured receiver lacks, under its name for people. */
  readonly states: () => Promise<readonly ReceiverState[]>
}

export function openAuditReceivers(
  basics: Basics,
  { stores: { auditReceivers: receivers }, catalog, webhooks }: AuditReceiverParts,
): OpenAuditReceivers {
  const { settings, clock, log, metrics } = basics
  const { auditLogs } = settings
  const otlp = auditLogs === undefined ? [] : [otlpTarget(basics, auditLogs)]
  const targets = (): readonly AuditTarget[] => [
    ...(catalog.declared.auditWebhooks ?? []).map((webhook, index, all) => ({
      ...webhookTarget(webhooks.transport(webhook.isPrivate), webhook),
      name: nameAmong(all.slice(0, index), webhook),
    })),
    ...otlp,
  ]
  const nameOf = (id: string): string => targets().find((one) => one.id === id)?.name ?? ''
  const named = (states: readonly ReceiverState[]): readonly ReceiverState[] =>
    states.map((state) => ({ ...state, id: nameOf(state.id) }))
  const sender = new AuditSender({
    receivers,
    targets,
    clock,
    events: {
      ...auditSenderLog(log),
      states: (states) => metrics.node.auditReceivers(named(states), clock.nowMs()),
    },
  })
  const sending = tasksOf(settings.role).doesChores ? sender.start() : undefined
  return {
    states: async () => named(await receivers.states(targets().map(({ id }) => id))),
    [Symbol.asyncDispose]: async () => sending?.stop(),
  }
}

/** Its origin, with a number if webhooks before it have the same. */
function nameAmong(before: readonly ConfiguredWebhook[], { url }: ConfiguredWebhook): string {
  const origin = URL.parse(url)?.origin ?? ''
  const same = before.filter((one) => URL.parse(one.url)?.origin === origin).length
  return same === 0 ? origin : `${origin} (${same + 1})`
}

function webhookTarget(
  transport: WebhookTransport,
  { url, secret }: ConfiguredWebhook,
): Omit<AuditTarget, 'name'> {
  return {
    id: url,
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    // Like every webhook: one event a post.
    maxEntries: 1,
    async send([entry]) {
      if (entry === undefined) return undefined
      try {
        const { status } = await transport.post({ url, secret, ...auditEvent(entry) })
        return status >= 200 && status < 300 ? undefined : `status ${status}`
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
  }
}

/** One for all nodes, whatever address each of them has for it: many have a collector of their own. */
const OTLP_ID = 'otlp'
/** Entries of one message: some hundred kilobytes, of the four megabytes that receivers usually take. */
const MAX_RECORDS = 200

function otlpTarget(basics: Basics, settings: OtlpSettings): AuditTarget {
  const sender = otlpSenderOf(settings)
  return {
    id: OTLP_ID,
    name: OTLP_ID,
    timeoutMs: settings.timeoutMs,
    maxEntries: MAX_RECORDS,
    async send(entries) {
      const message = encodeExport(sender, [encodeEntries(entries, basics.clock.nowMs())])
      return (await postOtlp(settings, message)).problem
    },
  }
}
