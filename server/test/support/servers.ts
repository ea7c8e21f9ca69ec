/** Real PostgreSQL and Redis servers on loopback, each in a temporary folder. They end with this process, however it ends. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, globSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { PATIENCE_MS } from './patience.ts'
import { eventually } from './process.ts'
import { childrenOf, isOnPath, tied, type User } from './system.ts'
import { databaseOn, preparedTemplate, type Prepared } from './template-database.ts'

export interface TestServer {
  readonly url: string
  readonly port: number
  /** The process and its children. */
  pids(): number[]
  /** Ends the server politely and removes its folder. */
  stop(): Promise<void>
  /** All of its processes at once, as a power cut of the machine would. */
  kill9(): Promise<void>
  /** On the same folder and port. */
  restart(): Promise<void>
  /** The server is there, but does not answer. */
  pause(): void
  resume(): void
}

interface Program {
  readonly folder: string
  readonly port: number
  readonly command: readonly string[]
  /** The user it runs as, if another one than this process. */
  readonly user?: User | undefined
  readonly url: string
  readonly stopSignal: NodeJS.Signals
  readonly greet: () => Promise<void>
}

/** PostgreSQL refuses to run as root. */
const POSTGRES_USERS = ['postgres', 'nobody']

/**
 * `waitsForDisk: false` is for a server that is never killed, with a ledger that is not needed afterwards. `memory`: size
 * of its cache, small for tests, of which many run at once. `settings`: more of its own, as `name=value`.
 */
export async function startPostgresServer({
  waitsForDisk = true,
  memory = '16MB',
  settings: more = [] as readonly string[],
} = {}): Promise<TestServer> {
  const port = await freePort()
  const folder = temporaryFolder('postgres')
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const user = postgresUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const initialise = '-U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions'.split(' ')
  const [program, args] = tied([binary('initdb'), '-D', data, ...initialise], user)
  execFileSync(program, args, { cwd: folder, stdio: 'pipe' })
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `shared_buffers=${memory}`]
  // Files of tests share a process, and leave their connections open until it ends; several such processes run at once.
  settings.push('max_connections=400')
  // Hundreds of small databases: to look after each once a minute takes a quarter of a core, and to compile a query longer than to run it.
  if (!waitsForDisk) settings.push('fsync=off', 'autovacuum_naptime=1h', 'jit=off')
  // Recovery after a kill. Twenty databases have tens of thousands of files, which take four times as long one by one.
  else if (process.platform === 'linux') settings.push('recovery_init_sync_method=syncfs')
  settings.push(...more)
  const options = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const command = [binary('postgres'), ...options]
  const greet = (): Promise<void> => withClient(url, async (client) => void (await client.query('select 1')))
  return run({ folder, port, command, user, url, stopSignal: 'SIGINT', greet })
}

export async function startRedisServer(): Promise<TestServer> {
  const port = await freePort()
  const folder = temporaryFolder('redis')
  const options = `--bind 127.0.0.1 --port ${port} --dir ${folder} --appendonly no`.split(' ')
  const command = ['redis-server', ...options, '--save', '']
  const greet = (): Promise<void> => ping(port)
  return run({ folder, port, command, url: `redis://127.0.0.1:${port}`, stopSignal: 'SIGTERM', greet })
}

/** Without a PostgreSQL, tests use the database built into Torana, and tests of several nodes are skipped. */
export const hasPostgres: boolean =
  process.env['TORANA_TEST_POSTGRES_URL'] !== undefined ||
  isOnPath('postgres') ||
  binary('postgres') !== 'postgres'

let sharedPostgres: Promise<string> | undefined
const sharedTemplates = new Map<Prepared, Promise<string>>()

/**
 * A new database, on the server at `TORANA_TEST_POSTGRES_URL` or else on one that this process starts once. It is a copy, which takes
 * a tenth of the time that a node needs to prepare it. `nothing`: an empty one.
 */
export async function testPostgres(
  prepared: Prepared | 'nothing' = 'partitions',
): Promise<{ readonly url: string }> {
  sharedPostgres ??= Promise.resolve(
    process.env['TORANA_TEST_POSTGRES_URL'] ??
      startPostgresServer({ waitsForDisk: false }).then((server) => server.url),
  )
  const server = await sharedPostgres
  const template = prepared === 'nothing' ? 'template1' : await sharedTemplate(server, prepared)
  const name = `torana_test_${randomBytes(6).toString('hex')}`
  await withClient(server, (client) => client.query(`create database ${name} template ${template}`))
  return { url: databaseOn(server, name) }
}

function sharedTemplate(server: string, prepared: Prepared): Promise<string> {
  const made = sharedTemplates.get(prepared) ?? preparedTemplate(server, prepared)
  sharedTemplates.set(prepared, made)
  return made
}

/** A separate Redis, since tests empty it: a start takes some 30 ms. */
export async function testRedis(): Promise<{ readonly url: string }> {
  return startRedisServer()
}

const atExit = new Set<() => void>()
process.once('exit', () => atExit.forEach((clean) => clean()))

export async function run(program: Program): Promise<TestServer> {
  const { folder, port, url, greet } = program
  const logPath = join(folder, 'log')
  let child: ChildProcess
  let exit: Promise<unknown>
  const ended = async (): Promise<void> => {
    child.ref()
    await exit
  }

  const ready = (): Promise<void> =>
    eventually(async () => {
      if (!isAlive(child)) throw new Error(readFileSync(logPath, 'utf8'))
      await greet()
    })
  const launch = (): void => {
    const log = openSync(logPath, 'a')
    const [file, args] = tied(program.command, program.user)
    child = spawn(file, args, { cwd: folder, stdio: ['ignore', log, log] })
    closeSync(log)
    // A test file ends when its tests have ended, without having to stop its servers.
    child.unref()
    exit = once(child, 'exit')
  }
  const pids = (): number[] => (child.pid && isAlive(child) ? [child.pid, ...childrenOf(child.pid)] : [])
  const signalAll = (signal: NodeJS.Signals): void => pids().forEach((pid) => send(signal, pid))
  const kill = (): void => {
    // Stopped first, or it could start another child.
    child.kill('SIGSTOP')
    signalAll('SIGKILL')
  }
  atExit.add(() => {
    kill()
    rmSync(folder, { recursive: true, force: true })
  })

  launch()
  await ready()
  return {
    url,
    port,
    pids,
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async restart() {
      // One that is still recovering is waited for: a second would fight it for the folder.
      if (!isAlive(child)) launch()
      await ready()
    },
    async kill9() {
      kill()
      await ended()
    },
    async stop() {
      signalAll('SIGCONT')
      child.kill(program.stopSignal)
      await ended()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

function send(signal: NodeJS.Signals, pid: number): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // A child may end by itself after it was listed.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `torana-${name}-`))
}

/** Below those that the system gives to anybody: the port of a server that is down for a moment stays its own. */
const PORTS = { from: 15_000, to: 32_000 } as const
const givenPorts = new Set<number>()

/** For programs that can't choose one themselves. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (!givenPorts.has(port) && (await isFree(port))) {
      givenPorts.add(port)
      return port
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return false
  }
  await once(server.close(), 'close')
  return true
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  })
  // A server that is just starting or stopping may cut the connection after it has answered.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

export async function ping(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    await once(socket, 'data')
  } finally {
    socket.destroy()
  }
}

/** A program of the server: from the path, or where Debian keeps them. */
export function binary(name: string): string {
  if (isOnPath(name)) return name
  const found = globSync(`/usr/lib/postgresql/*/bin/${name}`).sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
  return found.at(-1) ?? name
}

/** The user that runs PostgreSQL; undefined when this user will do. */
export function postgresUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of POSTGRES_USERS) {
    const user = users.find(([entry]) => entry === name)
    if (user) return { name, uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new Error(`PostgreSQL does not run as root, and there is no user ${POSTGRES_USERS.join(' or ')}`)
}
