/** A failure that the user can fix: the CLI prints its message without a stack and exits with 1. */
export class CommandProblem extends Error {
  override readonly name = 'CommandProblem'
  /** HTTP status of the node's answer; undefined without an answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}
