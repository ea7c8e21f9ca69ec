/**
 * Two PostgreSQL nodes managed by Patroni, with a synchronous standby, and an etcd for their agreement. Each
 * node lives in its own PID namespace: killing it ends Patroni and all of PostgreSQL in one instant, as the
 * loss of a machine does.
 */
import { chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { parse } from 'yaml'
import {
  binary,
  freePort,
  postgresUser,
  run,
  temporaryFolder,
  type TestServer,
} from '../../../server/test/support/servers.ts'
import { tied } from '../../../server/test/support/system.ts'
import { until } from '../../processes.ts'
import { deployed } from './deployed.ts'

export interface PatroniNode {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly server: TestServer
}

export interface Patroni {
  readonly nodes: readonly PatroniNode[]
  /** Undefined when there is none at present. */
  primary(): Promise<PatroniNode | undefined>
  /** Resolves when a node other than the primary has every commit. */
  standbyReady(): Promise<void>
  stop(): Promise<void>
}

/** Torana's role, in place of `torana:…`. */
export const TORANA_ROLE = { name: 'torana', password: 'password-of-torana' } as const

/** The first node makes a database, the second one copies it. */
const STANDBY_MS = 180_000

interface PatroniFile {
  readonly bootstrap: object
  readonly postgresql: {
    readonly authentication: { readonly superuser: { readonly username: string; readonly password: string } }
  }
}

export async function startPatroni(): Promise<Patroni> {
  const etcd = await startEtcd()
  const file = parse(deployed('patroni.yaml')) as PatroniFile
  const nodes: PatroniNode[] = []
  for (const name of ['pg-1', 'pg-2']) nodes.push(await startNode(name, file, etcd.url))
  const patroni: Patroni = {
    nodes,
    async primary() {
      const answers = await Promise.all(nodes.map((node) => says(node, '/primary')))
      return nodes.find((_, index) => answers[index])
    },
    async standbyReady() {
      await until('there is a synchronous standby', STANDBY_MS, async () =>
        (await Promise.all(nodes.map((node) => says(node, '/synchronous')))).includes(true),
      )
    },
    async stop() {
      await Promise.all(nodes.map(({ server }) => server.kill9()))
      await etcd.stop()
    },
  }
  await patroni.standbyReady()
  await makeRole(file, await patroni.primary())
  return patroni
}

async function startEtcd(): Promise<TestServer> {
  const [port, peerPort] = [await freePort(), await freePort()]
  const folder = temporaryFolder('etcd')
  const url = `http://127.0.0.1:${port}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const options = {
    'data-dir': join(folder, 'data'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
  }
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const greet = async (): Promise<void> => {
    const answer = await fetch(`${url}/health`)
    if (!(await answer.text()).includes('"true"')) throw new Error('etcd is not healthy yet')
  }
  const command = ['etcd', ...flags]
  return run({ folder, port, command, url, stopSignal: 'SIGTERM', greet })
}

async function startNode(name: string, file: PatroniFile, etcdUrl: string): Promise<PatroniNode> {
  const [port, restPort] = [await freePort(), await freePort()]
  const folder = temporaryFolder(name)
  const user = postgresUser()
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (user) for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
  const address = { listen: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}` }
  const hosts = ['all', 'replication'].map((of) => `host ${of} all 127.0.0.1/32 scram-sha-256`)
  const settings = {
    ...file,
    name,
    etcd3: { hosts: new URL(etcdUrl).host },
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    bootstrap: { ...file.bootstrap, pg_hba: hosts },
    postgresql: {
      ...file.postgresql,
      ...address,
      data_dir: data,
      bin_dir: dirname(binary('postgres')),
      pgpass: join(folder, 'pgpass'),
      parameters: { unix_socket_directories: '', shared_buffers: '16MB' },
    },
  }
  const settingsFile = join(folder, 'patroni.json')
  writeFileSync(settingsFile, JSON.stringify(settings))
  const machine = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child=KILL']
  if (!user) machine.push('--user', '--map-current-user')
  const [program, args] = tied(['patroni', settingsFile], user)
  const command = [...machine, program, ...args]
  const greet = async (): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${restPort}/health`)
    if (answer.status !== 200) throw new Error(`${name} does not run yet`)
  }
  const server = await run({ folder, port, command, url: '', stopSignal: 'SIGTERM', greet })
  return { name, port, restPort, server }
}

async function says({ restPort }: PatroniNode, path: '/primary' | '/synchronous'): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${restPort}${path}`).catch(() => undefined)
  await answer?.arrayBuffer()
  return answer?.status === 200
}

async function makeRole({ postgresql }: PatroniFile, primary: PatroniNode | undefined): Promise<void> {
  const { username, password } = postgresql.authentication.superuser
  const port = primary?.port ?? 0
  const client = new Client({ host: '127.0.0.1', port, user: username, password, database: 'postgres' })
  await client.connect()
  await client.query(`CREATE ROLE ${TORANA_ROLE.name} LOGIN PASSWORD '${TORANA_ROLE.password}'`)
  await client.query(`CREATE DATABASE ${TORANA_ROLE.name} OWNER ${TORANA_ROLE.name}`)
  await client.query(`CREATE DATABASE probe OWNER ${TORANA_ROLE.name}`)
  await client.end()
}
