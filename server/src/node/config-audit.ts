import { setTimeout as delay } from 'node:timers/promises'
import { loadDetail } from '#config/what-changed.ts'
import type { Catalog } from '#core/catalog/catalog.ts'
import type { AuditLog } from '#ports/audit.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { peppersOf } from '#runtime/secret.ts'
import { LoadAudit } from '#worker/catalog/load-audit.ts'
import type { Basics } from './basics.ts'

export type ConfigAudit = ReturnType<typeof openConfigAudit>

export function openConfigAudit({ settings, secrets, log }: Basics, audit: Pick<AuditLog, 'appendNews'>) {
  const { digestOf } = peppersOf(secrets).current
  const loads = new LoadAudit({
    audit,
    pause: (ms, signal) => delay(ms, undefined, { ref: false, signal }).catch(() => {}),
    onFailed: (error) =>
      log.error({ err: error }, 'a reload of torana.yaml could not be written to the audit'),
  })
  return {
    /** Records that a configuration was loaded. `before` is undefined at the start of the node. */
    note(after: Catalog, file: string, before?: Catalog): void {
      if (settings.configFile === undefined) return
      loads.note(() => loadDetail({ after, before, file }, digestOf, yieldLoop))
    },
    [Symbol.asyncDispose]: () => loads.close(),
  }
}
