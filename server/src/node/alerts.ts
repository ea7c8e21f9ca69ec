/** Opens alerts: what sends their notices. */
import type { AlertTransport } from '#ports/alerts.ts'
import { alertTransport } from '#upstreams/connect/alert-transport.ts'
import { WebhookHttp } from '#upstreams/connect/webhook.ts'
import type { Basics } from './basics.ts'

export interface Alerts extends AsyncDisposable {
  readonly transport: AlertTransport
}

export function openAlerts({ settings, clock }: Basics): Alerts {
  const { proxy, smtp } = settings
  const guarded = new WebhookHttp({ clock, proxy })
  const open = new WebhookHttp({ clock, proxy, allowPrivate: true })
  return {
    transport: alertTransport({ clock, guarded, open, smtp }),
    async [Symbol.asyncDispose]() {
      await Promise.all([guarded.close(), open.close()])
    },
  }
}
