/** A row without a vector and the reason: a line of the errors file. */
export interface RowError {
  /** Counts from 0. */
  readonly row: number
  readonly id: string
  /** A fault code of the gateway, `no_text` or `no_image`. */
  readonly code: string
  readonly message: string
}

export function errorLine({ row, id, code, message }: RowError): string {
  return `${JSON.stringify({ row, id, code, message })}\n`
}
