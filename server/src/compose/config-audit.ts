/** Each configuration that a node takes from its file stands in the audit: when, its digest, and what changed by name. */
import { setTimeout } from 'node:timers/promises'
import { configurationText, itemsIn, whatChanged } from '#config/what-changed.ts'
import type { Catalog } from '#core/catalog.ts'
import { SYSTEM, type AuditLog } from '#ports/audit.ts'
import { StoreAway } from '#ports/store.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { peppersOf } from '#runtime/secret.ts'
import type { Basics } from './basics.ts'

/** An entry waits for a store that is away: a reload must not go unnoticed because PostgreSQL was just restarted. */
const RETRY_MS = 5000

export interface ConfigAudit extends AsyncDisposable {
  /** `fileDigest` is that of the file it came from; `before` is undefined at the start of the node. */
  note(after: Catalog, fileDigest: string, before?: Catalog): void
}

interface LoadDetail extends Readonly<Record<string, unknown>> {
  /** Of what the configuration means, and of the file. */
  readonly digest: string
  readonly file: string
  readonly changed?: Readonly<Record<string, unknown>>
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

  async function write(detail: LoadDetail): Promise<void> {
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
    note(after, fileDigest, before) {
      if (configFile === undefined) return
      last = last
        .then(async () => {
          const items = await itemsIn(after, yieldLoop)
          const known = before && (await itemsIn(before, yieldLoop))
          const digest = digestOf(configurationText(items))
          await yieldLoop()
          await write({
            digest,
            file: fileDigest,
            ...(known && { changed: { ...whatChanged(known, items) } }),
          })
        })
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
