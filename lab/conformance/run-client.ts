/** Starts a client program, gives it all its cases, reads its answers line by line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Program } from './clients.ts'
import { tiktokenFolder } from './folders.ts'
import { clientEnvironment } from './torana.ts'

export interface ClientError {
  readonly class: string
  readonly message: string
  readonly status?: number | null
  readonly code?: string | null
  readonly requestId?: string | null
  readonly retryAfter?: string | null
  readonly shouldRetry?: string | null
}

/** Where a case is asked. */
export interface Endpoint {
  readonly baseUrl: string
  readonly apiKey: string
  readonly model: string
}

/** What every program prints of every case. */
export type ClientAnswer<Result> =
  | ({ readonly case: string; readonly ok: true } & Result)
  | { readonly case: string; readonly ok: false; readonly error: ClientError }

export interface Work {
  readonly cases: readonly object[]
  readonly [shared: string]: unknown
}

/** Returns how the program ended when it ended badly. */
export async function runClient<Result>(
  client: Program,
  work: Work,
  timeoutMs: number,
  take: (answer: ClientAnswer<Result>) => void,
): Promise<string | undefined> {
  const [program, ...args] = client.command
  const child = spawn(program, args, {
    env: {
      ...clientEnvironment(),
      TIKTOKEN_CACHE_DIR: tiktokenFolder,
      // Python would leave its compiled files among the sources.
      PYTHONDONTWRITEBYTECODE: '1',
      // Java opens no file whose name has letters that the locale lacks.
      LC_ALL: 'C.UTF-8',
    },
    timeout: timeoutMs,
  })
  const exited = once(child, 'exit')
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  // A program that ends early breaks the pipe; its exit tells the reason.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(work))
  for await (const line of createInterface(child.stdout)) take(JSON.parse(line) as ClientAnswer<Result>)
  const [code, signal] = (await exited) as [number | null, string | null]
  return code === 0 ? undefined : `the client ended with ${code ?? signal}: ${complaints.slice(-2000)}`
}
