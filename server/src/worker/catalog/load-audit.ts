/** Each configuration that a node loads from its file is recorded in the audit: when, its digest, and what changed by name. */
import { SYSTEM, type AuditLog } from '#ports/audit.ts'
import { StoreUnreachable } from '#ports/store.ts'

/** Wait before the next attempt at an unreachable store: a restart of PostgreSQL must not hide a reload. */
const RETRY_MS = 5000

type Detail = Parameters<AuditLog['appendNews']>[0]['detail']

export interface LoadAuditParts {
  readonly audit: Pick<AuditLog, 'appendNews'>
  /** Resolves after `ms`, or when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly onFailed: (error: unknown) => void
}

export class LoadAudit {
  readonly #parts: LoadAuditParts
  readonly #stop = new AbortController()
  #last = Promise.resolve()

  constructor(parts: LoadAuditParts) {
    this.#parts = parts
  }

  /** Records loads in the order in which they came, and waits for a store that is unreachable. */
  note(describe: () => Promise<Detail>): void {
    this.#last = this.#last
      .then(async () => this.#write(await describe()))
      .catch((error: unknown) => this.#parts.onFailed(error))
  }

  /** Gives up what waits for the store. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#last
  }

  async #write(detail: Detail): Promise<void> {
    const { audit, pause } = this.#parts
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await audit.appendNews({ actor: SYSTEM, action: 'config.load', target: 'torana.yaml', detail })
        return
      } catch (error) {
        if (!(error instanceof StoreUnreachable)) throw error
        await pause(RETRY_MS, signal)
      }
    }
  }
}
