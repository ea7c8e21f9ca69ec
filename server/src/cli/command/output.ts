/** Where a command writes to: the process's own streams, or a test's. */
export interface Output {
  readonly stdout: Stream
  readonly stderr: Stream
}

interface Stream {
  write(text: string): unknown
  /** Whether a person looks at it. */
  readonly isTTY?: boolean
}
