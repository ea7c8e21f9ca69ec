/** Starts a client program, gives it all its cases, reads its answers line by line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Client } from './clients.ts'
import { tiktokenFolder } from './folders.ts'
import type { Case } from './rows.ts'
import { lists } from './texts.ts'
import { bareEnvironment } from './torana.ts'

export interface ClientError {
  readonly class: string
  readonly message: string
  readonly status?: number | null
  readonly code?: string | null
  readonly requestId?: string | null
  readonly retryAfter?: string | null
}

export type ClientAnswer =
  | {
      readonly case: string
      readonly ok: true
      /** Base64 of little-endian float32. */
      readonly vectors: readonly string[]
      /** Where the library tells its user. */
      readonly tokens?: number
    }
  | { readonly case: string; readonly ok: false; readonly error: ClientError }

/** All cases of the slowest client take half of this on two busy cores. */
const clientTimeoutMs = 180_000

/** Where a case is asked. */
export interface Endpoint {
  readonly baseUrl: string
  readonly apiKey: string
  readonly model: string
}

/** Returns how the program ended when it ended badly. */
export async function runClient(
  client: Client,
  cases: readonly Case[],
  endpointOf: (asked: Case) => Endpoint,
  take: (answer: ClientAnswer) => void,
): Promise<string | undefined> {
  const [program, ...args] = client.command
  const child = spawn(program, args, {
    env: { ...bareEnvironment(), TIKTOKEN_CACHE_DIR: tiktokenFolder },
    timeout: clientTimeoutMs,
  })
  const exited = once(child, 'exit')
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  // A program that ends early breaks the pipe; its exit tells the reason.
  child.stdin.on('error', () => {})
  child.stdin.end(
    JSON.stringify({
      lists,
      cases: cases.map((asked) => ({ ...asked, ...endpointOf(asked), expected: undefined })),
    }),
  )
  for await (const line of createInterface(child.stdout)) take(JSON.parse(line) as ClientAnswer)
  const [code, signal] = (await exited) as [number | null, string | null]
  return code === 0 ? undefined : `the client ended with ${code ?? signal}: ${complaints.slice(-2000)}`
}
