/** Each configuration that a node takes from its file stands in the audit: when, its digest, and what changed by name. */
import { setTimeout } from 'node:timers/promises'
import { configurationText, whatChanged } from '#config/what-changed.ts'
import { lookAt } from '#config/reload.ts'
import type { Catalog } from '#core/catalog.ts'
import { SYSTEM, type AuditLog } from '#ports/audit.ts'
import { StoreAway } from '#ports/store.ts'
import { peppersOf } from '#runtime/secret.ts'
import type { Basics } from './basics.ts'

/** An entry waits for a store that is away: a reload must not go unnoticed because PostgreSQL was just restarted. */
const RETRY_MS = 5000

export interface ConfigAudit extends AsyncDisposable {
  /** `before` is undefined at the start of the node. */
  note(after: Catalog, before?: Catalog): void
}

export function openConfigAudit(
  { settings, secrets, log }: Pick<Basics, 'settings' | 'secrets' | 'log'>,
  audit: Pick<AuditLog, 'appendNews'>,
): ConfigAudit {
  const { configFile } = settings
  const stop = new AbortController()
  // What the configuration means holds secrets, so its digest is keyed.
  const { digestOf } = peppersOf(secrets).current
  let last = Promise.resolve()

  async function write(detail: { readonly digest: string }): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await audit.appendNews({ actor: SYSTEM, action: 'config.load', target: 'torana.yaml', detail })
        return
      } catch (error) {
        if (!(error instanceof StoreAway)) throw error
        await setTimeout(RETRY_MS, undefined, { ref: false, signal: stop.signal }).catch(() => {})
      }
    }
  }

  return {
    note(after, before) {
      if (configFile === undefined) return
      const detail = {
        digest: digestOf(configurationText(after)),
        file: lookAt(configFile).digest,
        ...(before && { changed: { ...whatChanged(before, after) } }),
      }
      last = last
        .then(() => write(detail))
        .catch((error: unknown) =>
          log.error({ err: error }, 'a reload of torana.yaml could not be written to the audit'),
        )
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await last
    },
  }
}
