/** `COPY … FROM STDIN`: many rows for one record of the write-ahead log per page, where an INSERT writes one per row. */
import { Query, type PoolClient } from 'pg'

interface CopyLink {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

class CopyQuery extends Query {
  readonly #rows: string
  /** Read by pg. */
  readonly query_timeout: number

  constructor(statement: string, rows: string, timeoutMs: number, done: (error: Error | null) => void) {
    super(statement, done)
    this.#rows = rows
    this.query_timeout = timeoutMs
  }

  /** Called by pg when the server is ready for the rows. */
  handleCopyInResponse(link: CopyLink): void {
    link.sendCopyFromChunk(Buffer.from(this.#rows))
    link.endCopyFrom()
  }
}

export function copyIn(
  client: PoolClient,
  statement: string,
  rows: string,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null): void => (error ? reject(error) : resolve())
    client.query(new CopyQuery(statement, rows, timeoutMs, done))
  })
}

const SPECIAL = /[\\\t\n\r\0]/
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  '\t': String.raw`\t`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  // PostgreSQL texts cannot contain NUL.
  '\0': '',
}

/** One row in the text format of COPY. Undefined is NULL. */
export function copyRow(values: readonly (string | number | bigint | undefined)[]): string {
  let row = ''
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    row += (index === 0 ? '' : '\t') + (value === undefined ? String.raw`\N` : escaped(`${value}`))
  }
  return `${row}\n`
}

function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text
  return text.replaceAll(/[\\\t\n\r\0]/g, (character) => ESCAPES[character] ?? '')
}
