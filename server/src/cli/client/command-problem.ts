/** Something a person can mend: printed without a stack, with exit code 1. */
export class CommandProblem extends Error {
  override readonly name = 'CommandProblem'
  /** What the node answered with, if it answered. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}
