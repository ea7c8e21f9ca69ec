/** SIGTERM, SIGINT and SIGHUP, heard from the first moment of a start on. This file imports nothing of ours, so that it is loaded at once. */
import { once } from 'node:events'

/** Why a start or a node ends: the process received a signal. */
export class StopRequested extends Error {
  readonly by: 'SIGTERM' | 'SIGINT'

  constructor(by: 'SIGTERM' | 'SIGINT') {
    super(`stopped by ${by}`)
    this.by = by
  }
}

/** A terminal and npm may each pass on one Ctrl-C. A person presses it again only after a while. */
const SAME_KEY_PRESS_MS = 1000
/** What a shell says of a program that Ctrl-C ended. */
const INTERRUPTED = 130

const controller = new AbortController()
/** Aborts with a `StopRequested`. */
export const stopSignal: AbortSignal = controller.signal

/** Resolves once a signal asks the process to stop. */
export async function stopRequested(): Promise<StopRequested> {
  if (!stopSignal.aborted) await once(stopSignal, 'abort')
  return stopSignal.reason as StopRequested
}

let reload: (() => void) | undefined
let mustReload = false

/** A second SIGTERM changes nothing. A second Ctrl-C ends the process at once, and the next start clears up. */
export function hearSignals(): void {
  let interruptedMs: number | undefined
  process.on('SIGTERM', () => controller.abort(new StopRequested('SIGTERM')))
  process.on('SIGINT', () => {
    controller.abort(new StopRequested('SIGINT'))
    interruptedMs ??= performance.now()
    if (performance.now() - interruptedMs > SAME_KEY_PRESS_MS) process.exit(INTERRUPTED)
  })
  process.on('SIGHUP', () => {
    if (reload === undefined) mustReload = true
    else reload()
  })
}

/** From now on SIGHUP does this. One that came before is made up for. */
export function onHangUp(work: () => void): void {
  reload = work
  if (mustReload) work()
}
