/** On whose behalf work is done that all projects share, and how long its caller waits for it. */
export interface Asker {
  readonly project: string
  readonly timeoutMs: number
}

/** The work was not done: nothing is wrong with it, and later it may go. */
export class ThreadBusy extends Error {
  override readonly name = 'ThreadBusy'
  /** `full`: as many pieces of work of this project wait as may. `late`: the caller's time is up. */
  readonly kind: 'full' | 'late'

  constructor(kind: 'full' | 'late', message: string) {
    super(message)
    this.kind = kind
  }
}
