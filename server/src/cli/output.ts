/** Where a command writes to: the process's own streams, or a test's. */
export interface Output {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}
