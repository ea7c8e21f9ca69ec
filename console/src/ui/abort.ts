/** One `AbortController` per run: the next run, or leaving the page, aborts the one before. */
import { useEffect, useState } from 'react'

class RunAbort {
  #current: AbortController | undefined

  /** The signal of a new run. */
  next(): AbortSignal {
    this.stop()
    this.#current = new AbortController()
    return this.#current.signal
  }

  get isIdle(): boolean {
    return this.#current === undefined || this.#current.signal.aborted
  }

  stop(reason?: unknown): void {
    this.#current?.abort(reason)
  }
}

export function useAbort(): RunAbort {
  const [abort] = useState(() => new RunAbort())
  useEffect(() => () => abort.stop(), [abort])
  return abort
}
