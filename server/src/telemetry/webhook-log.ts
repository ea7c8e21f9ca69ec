/** What becomes of webhooks, in the log. */
import { StoreUnreachable } from '#ports/store.ts'
import type { WebhookDelivery } from '#ports/webhooks.ts'
import type { Log } from './log.ts'

export function webhookLog(log: Pick<Log, 'info' | 'warn' | 'error'>) {
  return {
    sent: ({ id, url, type }: WebhookDelivery) =>
      log.info({ id, receiver: originOf(url), type }, 'a webhook was sent'),
    notSent: ({ id, url, type }: WebhookDelivery, reason: string) =>
      log.warn({ id, receiver: originOf(url), type, reason }, 'the receiver did not accept a webhook'),
    trouble(error: unknown) {
      if (!(error instanceof StoreUnreachable)) log.error({ err: error }, 'webhooks could not be sent')
    },
  }
}

/** The path is left out: at many receivers it is a secret that lets its holder post. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? ''
}
