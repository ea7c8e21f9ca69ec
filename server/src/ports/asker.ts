/** The project that asks for shared work, and how long its caller waits. */
export interface Asker {
  readonly project: string
  readonly timeoutMs: number
}

/** The work was not done. Nothing is wrong with it: a later try may succeed. */
export class ThreadBusy extends Error {
  override readonly name = 'ThreadBusy'
  /** `full`: the project's queue is full. `late`: the caller's deadline has passed. */
  readonly kind: 'full' | 'late'

  constructor(kind: 'full' | 'late', message: string) {
    super(message)
    this.kind = kind
  }
}
