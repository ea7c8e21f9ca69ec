/** A whole node on PostgreSQL, or on the built-in database where there is none, with tokens of each role at its control API. */
import { randomUUID } from 'node:crypto'
import { startGateway, type Gateway, type GatewayOptions } from './gateway.ts'
import { hasPostgres, testPostgres } from './servers.ts'

export const NODE_TOKEN = 'node-token-of-these-tests-0001'

export interface ConsoleNode extends Gateway {
  /** Empty: its database is the built-in one. */
  readonly databaseUrl: string
  /** At `/api/v1`; without a token unless one is given. */
  control(method: string, path: string, options?: ControlOptions): Promise<ControlAnswer>
  /** A new token. A developer sees the projects. */
  tokenOf(
    role: string,
    more?: { readonly projects?: readonly string[]; readonly read_only?: boolean },
  ): Promise<string>
}

export interface ControlOptions {
  readonly token?: string
  readonly cookie?: string
  readonly origin?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface ControlAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Readonly<Record<string, unknown>> & {
    readonly error?: { readonly code: string; readonly message: string }
  }
}

export async function startConsoleNode(options: GatewayOptions = {}): Promise<ConsoleNode> {
  const databaseUrl = options.env?.['DATABASE_URL'] ?? (hasPostgres ? (await testPostgres()).url : '')
  const gateway = await startGateway({
    models: { 'plain-w16': { on: 'plain' } },
    isOnDatabase: true,
    ...options,
    env: {
      ...(databaseUrl !== '' && { DATABASE_URL: databaseUrl }),
      TORANA_SECRET: 'the secret of these tests, long',
      TORANA_ADMIN_TOKEN: NODE_TOKEN,
      ...options.env,
    },
  })
  const control: ConsoleNode['control'] = (method, path, more) =>
    askControl(`${gateway.controlUrl}/api/v1${path}`, method, more)
  return {
    ...gateway,
    databaseUrl,
    control,
    async tokenOf(role, more = {}) {
      const body = { name: randomUUID(), role, expires_in_days: 1, ...more }
      const made = await control('POST', '/tokens', { token: NODE_TOKEN, body })
      if (made.status !== 201) throw new Error(made.text)
      return String(made.body['secret'])
    },
  }
}

/** Reads no more of a stream than its head. */
export async function askControl(
  url: string,
  method: string,
  { token, cookie, origin, headers, body }: ControlOptions = {},
): Promise<ControlAnswer> {
  const leave = new AbortController()
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    signal: leave.signal,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cookie !== undefined && { cookie }),
      ...(origin !== undefined && { origin }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const type = answer.headers.get('content-type') ?? ''
  const text = type.includes('event-stream') ? '' : await answer.text()
  if (type.includes('event-stream')) leave.abort()
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: (type.startsWith('application/json') && text !== ''
      ? JSON.parse(text)
      : {}) as ControlAnswer['body'],
  }
}
