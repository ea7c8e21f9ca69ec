/** The control API as a separate server, over the stores of a directory. */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { readConfig } from '#config/load.ts'
import { builtInFacts } from '#config/build/facts.ts'
import { keyFrom } from '#core/keys/key.ts'
import type { Catalog } from '#core/catalog/catalog.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { CredentialStore } from '#ports/credentials.ts'
import type { KeyStore } from '#ports/key-store.ts'
import { clientAddressBehind } from '#http/client-address.ts'
import { FailedKeys } from '#http/gateway/caller/failed-keys.ts'
import { nodeCaller, type Caller } from '#control/shared/caller.ts'
import { Callers } from '#control/shared/callers.ts'
import type { ApiDependencies } from '#control/dependencies.ts'
import type { ControlNode } from '#control/shared/node.ts'
import type { ConsoleDependencies } from '#http/console/console.ts'
import { BodyRoom } from '#http/gate/body-room.ts'
import { defaultLimits } from '#core/settings.ts'
import { controlServer } from '#control/server.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { adminTokens, peppersOf } from '#runtime/secret.ts'
import { withReachable } from '#stores/postgres/unreachable.ts'
import { SECRETS, type DatabaseDirectory, type Directory } from './directory.ts'
import { send, type Asked, type Gateway } from './gateway.ts'
import { absent } from './stores/absent.ts'
import { emptyReports } from './stores/open.ts'

export const ADMIN_TOKEN = 'admin-token-of-these-tests-0001'
export const LOCAL_TOKEN = 'local-token-of-these-tests-0002'
/** Of a developer who sees the project `search` alone. */
export const DEVELOPER_TOKEN = 'developer-token-of-these-tests-0003'

const DEVELOPER: Caller = {
  kind: 'member',
  actor: 'dev@example.com',
  role: 'developer',
  projects: ['search', 'planned'],
  isReadOnly: false,
}

/** A key of the configuration. */
export const DECLARED_SECRET = 'a-declared-key-of-these-tests'

const CONFIG = `
upstreams:
  openai: { provider: openai }
  keyed: { dialect: openai, baseUrl: 'https://keyed.example/v1', apiKey: in-the-file }
models:
  text-embedding-3-small: { aliases: [small], deployments: [{ upstream: openai }, { upstream: keyed }] }
projects:
  declared:
    limits: { requestsPerMinute: 100 }
    budget: { usd: 12.5, per: day, hard: true }
    keys: [{ name: ci, secret: ${DECLARED_SECRET}, models: [small] }]
`

export interface Control {
  readonly url: string
  readonly keyStore: KeyStore
  readonly credentials: CredentialStore
  readonly audit: AuditLog
  readonly catalog: Catalog
  readonly faults: Fault[]
  readonly ask: (method: string, path: string, body?: unknown, token?: string) => Promise<Asked>
}

/** A whole node whose `TORANA_ADMIN_TOKEN` is ADMIN_TOKEN is asked by its control API. `asked` is for `assertFault`. */
export async function asAdmin<Body>(gateway: Gateway, method: string, path: string, body?: unknown) {
  const asked = await send(`${gateway.controlUrl}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { ...asked, body: asked.body as unknown as Body, asked }
}

/** No member and no stored token. */
export const noPeople = {
  callers: new Callers({
    ofToken: async () => undefined,
    ofCookie: async () => undefined,
    nowMs: () => systemClock.nowMs(),
    onUntouched: () => {},
  }),
}

/** `GET /api/v1/keys` and so on: the routes of the API. */
export async function controlRoutes(): Promise<string[]> {
  const app = controlServer({
    limits: defaultLimits,
    notReady: () => undefined,
    metrics: async () => ({ contentType: '', text: '' }),
    api: absent('part of this API', {}),
  })
  const routes: string[] = []
  app.addHook('onRoute', ({ method, url }) => void routes.push(`${String(method)} ${url}`))
  await app.ready()
  await app.close()
  return routes.filter((route) => route.includes(' /api/') && !route.startsWith('HEAD'))
}

type ControlParts = Partial<Omit<ApiDependencies, 'node'>> & {
  readonly node?: Partial<ControlNode>
  readonly console?: ConsoleDependencies
}

export async function startControl(
  directory: Directory | DatabaseDirectory,
  { node, ...parts }: ControlParts = {},
): Promise<Control> {
  // A minute between any two: tests that are not about it send many wrong tokens.
  let failedAtMs = 0
  const { keyStore, audit } = directory
  const credentials = directory.credentials(SECRETS)
  const faults: Fault[] = []
  const { catalog } = readConfig('torana.yaml', CONFIG, {
    env: {},
    readFile: () => '',
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: Date.now(),
  })
  const actorOf = adminTokens([
    { actor: 'admin-token', token: ADMIN_TOKEN },
    { actor: 'local-admin', token: LOCAL_TOKEN },
  ])
  const app = controlServer({
    limits: defaultLimits,
    notReady: () => undefined,
    metrics: async () => ({ contentType: 'text/plain', text: '' }),
    api: absent('part of this API', {
      bodyRoom: new BodyRoom(defaultLimits),
      callerOf: (token) => {
        if (token === DEVELOPER_TOKEN) return DEVELOPER
        const actor = actorOf(token)
        return actor === undefined ? undefined : nodeCaller(actor)
      },
      docsUrl: () => 'http://gateway.example',
      clientAddress: clientAddressBehind([]),
      failedTokens: new FailedKeys(() => (failedAtMs += 60_000)),
      onFault: (fault) => faults.push(fault),
      onAdminRequest: () => {},
      identifiers: uuidv7Identifiers(systemClock),
      console: { folder: '/nowhere', basePath: '/' },
      node: absent<ControlNode>('part of this node', {
        ...noPeople,
        clock: systemClock,
        peppers: peppersOf(SECRETS),
        newSecret: () => keyFrom(randomBytes(64)),
        catalog: () => catalog,
        declaredCatalog: () => catalog,
        declaredProjects: () => catalog.projects,
        reports: 'database' in directory ? withReachable(directory.database) : emptyReports,
        audit,
        credentials,
        keyStore,
        ...node,
      }),
      ...parts,
    }),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => app.close())
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    url,
    keyStore,
    credentials,
    audit,
    catalog,
    faults,
    async ask(method, path, body, token = ADMIN_TOKEN) {
      const answer = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await answer.text()
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
      return {
        status: answer.status,
        headers: answer.headers,
        text,
        body: (isJson ? JSON.parse(text) : {}) as Asked['body'],
      }
    },
  }
}
