/** A row that got no vector, and why: a line of the errors file. */
export interface RowError {
  /** Counts from 0. */
  readonly row: number
  readonly id: string
  /** Of the gateway's faults, or `no_text`. */
  readonly code: string
  readonly message: string
}

export function errorLine({ row, id, code, message }: RowError): string {
  return `${JSON.stringify({ row, id, code, message })}\n`
}
