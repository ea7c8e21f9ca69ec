/** Several gateway processes on one PostgreSQL and one Redis, in front of one fake provider. All of it ends with the test file. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { after } from 'node:test'
import { createClient } from '@redis/client'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { startFakeProvider, type FakeProvider } from '../../../lab/fake-provider/server.ts'
import {
  configText,
  gatewayEnvironment,
  type AnswerBody,
  type AskOptions,
  type Asked,
  type GatewayOptions,
} from './gateway.ts'
import { PATIENCE_MS } from './patience.ts'
import { PROGRAM, runTorana, temporaryFolder, type Running } from './process.ts'
import { startRedisServer, testPostgres, type TestServer } from './servers.ts'

export interface ClusterOptions extends GatewayOptions {
  readonly nodes?: number
  /** Prepares the empty database, before a node makes its tables. */
  readonly onDatabase?: (databaseUrl: string) => Promise<void>
  /** The nodes' address of Redis, when it is not its own. */
  readonly redisUrl?: (redis: TestServer) => Promise<string>
}

export interface Cluster {
  readonly nodes: readonly NodeProcess[]
  readonly provider: FakeProvider
  /** A direct connection to Redis, whatever lies between it and the nodes. */
  readonly redis: Awaited<ReturnType<typeof connectRedis>>
  /** Reads the ledger. */
  readonly database: Database
  /** `POST /v1/embeddings` to the nodes in turn. */
  ask: (body: unknown, options?: AskOptions) => Promise<Asked>
}

export interface NodeProcess extends Running {
  /** Public address without a path. */
  readonly url: string
  readonly controlUrl: string
  readonly folder: string
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const [provider, { url: databaseUrl }, redis] = await Promise.all([
    startFakeProvider(),
    testPostgres(),
    startRedisServer(),
  ])
  await options.onDatabase?.(databaseUrl)
  const database = openPostgres(databaseUrl, { poolSize: 2 })
  after(() => Promise.all([database.close(), provider.close()]))
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: (await options.redisUrl?.(redis)) ?? redis.url }
  const nodes = await Promise.all(
    Array.from({ length: options.nodes ?? 3 }, () => startNodeProcess(options, provider.url, { env })),
  )
  let turn = 0
  return {
    nodes,
    provider,
    redis: await connectRedis(redis.url),
    database,
    ask(body, rest) {
      turn += 1
      return askAt((nodes[turn % nodes.length] as NodeProcess).url, body, rest)
    },
  }
}

export interface NodeProcessOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Reused from a node that ended; otherwise a new one. */
  readonly folder?: string
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[]
  readonly program?: string
}

/** Resolves once the node says that it is ready. */
export async function startNodeProcess(
  options: GatewayOptions,
  providerUrl: string,
  { env, folder = temporaryFolder(), nodeArgs = [], program = PROGRAM }: NodeProcessOptions = {},
): Promise<NodeProcess> {
  writeFileSync(join(folder, 'torana.yaml'), configText(options, providerUrl))
  const running = runTorana({
    folder,
    nodeArgs,
    program,
    env: gatewayEnvironment(folder, {
      TORANA_SECRET: 'the same secret on every node',
      ...options.env,
      ...env,
    }),
  })
  const { child, exit, stdout, stderr } = running
  // A test file that fails on its way to the first test runs no hooks.
  process.once('exit', () => child.kill('SIGKILL'))
  const timer = AbortSignal.timeout(PATIENCE_MS)
  const ended = exit.then((code) => `it ended with ${code}`)
  for (let trouble: string | undefined; ;) {
    const [, url, controlUrl] = BANNER.exec(stderr()) ?? []
    // It may have ended since: it was ready nonetheless.
    if (url !== undefined && controlUrl !== undefined) return { ...running, url, controlUrl, folder }
    if (trouble !== undefined) throw new Error(`a node is not ready, ${trouble}: ${stderr()}${stdout()}`)
    trouble = await Promise.race([ended, timer.aborted ? `not within ${PATIENCE_MS} ms` : nextMoment()])
  }
}

const BANNER = /Base URL +(http:\/\/[^/\s]+)[\s\S]*Metrics +(http:\/\/[^/\s]+)\//

function nextMoment(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), 50))
}

export async function askAt(
  url: string,
  body: unknown,
  { key, headers, path = '/v1/embeddings' }: AskOptions = {},
): Promise<Asked> {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) as AnswerBody }
}

export async function connectRedis(url: string) {
  const client = createClient({ url })
  await client.connect()
  after(() => client.destroy())
  return client
}

/** The connection to a server, which a test can shut: then no one answers there. */
export interface Door {
  readonly port: number
  open: () => Promise<void>
  shut: () => void
}

/** Shut until it is opened. */
export async function doorTo(targetPort: number): Promise<Door> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  }
  const server = createServer((socket) => {
    const onward = keep(connect(targetPort, '127.0.0.1'))
    keep(socket).once('close', () => onward.destroy())
    onward.once('close', () => socket.destroy())
    socket.pipe(onward).pipe(socket)
  })
  const listen = async (port: number): Promise<number> => {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
  const shut = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  const port = await listen(0)
  shut()
  after(shut)
  return { port, shut, open: async () => void (await listen(port)) }
}
