/** Two Redis servers, one of them a replica, and three sentinels that promote it when the other is gone. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import {
  freePort,
  ping,
  run,
  temporaryFolder,
  type TestServer,
} from '../../../server/test/support/servers.ts'
import { until } from '../../processes.ts'
import { deployed, replaced } from './deployed.ts'

export interface Sentinels {
  readonly servers: readonly TestServer[]
  /** The primary according to the sentinels. */
  primary(): Promise<TestServer>
  /** `master` or `slave` according to the server itself; undefined when it is unreachable. */
  roleOf(server: TestServer): Promise<string | undefined>
  stop(): Promise<void>
}

const SENTINELS = 3
/** Sentinels ask the primary for its replicas every ten seconds. */
const READY_MS = 30_000

export async function startSentinels(): Promise<Sentinels> {
  const first = await startRedis()
  const second = await startRedis(first.port)
  const servers = [first, second]
  const sentinels: TestServer[] = []
  for (let each = 0; each < SENTINELS; each += 1) sentinels.push(await startSentinel(first.port))
  const [asked] = sentinels as [TestServer]
  await until('the sentinels know all servers', READY_MS, async () => {
    const text = await answerTo(asked.port, 'SENTINEL MASTER torana')
    return /num-slaves\r\n\$1\r\n1/.test(text) && /num-other-sentinels\r\n\$1\r\n2/.test(text)
  })
  return {
    servers,
    async primary() {
      const text = await answerTo(asked.port, 'SENTINEL GET-MASTER-ADDR-BY-NAME torana')
      const found = servers.find(({ port }) => text.includes(`\r\n${port}\r\n`))
      if (found === undefined) throw new Error(`no server of ours is the primary: ${text}`)
      return found
    },
    async roleOf({ port }) {
      const text = await answerTo(port, 'INFO replication').catch(() => '')
      return /role:(\w+)/.exec(text)?.[1]
    },
    async stop() {
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()))
    },
  }
}

async function startRedis(replicaOf?: number): Promise<TestServer> {
  const port = await freePort()
  const text = replaced(deployed('redis.conf'), [
    ['10.0.0.21', '127.0.0.1'],
    ['port 6379', `port ${port}`],
  ])
  const replica = replicaOf === undefined ? '' : `replicaof 127.0.0.1 ${replicaOf}\n`
  return startServer('redis', port, text + replica, [])
}

async function startSentinel(primaryPort: number): Promise<TestServer> {
  const port = await freePort()
  const text = replaced(deployed('sentinel.conf'), [
    ['10.0.0.31', '127.0.0.1'],
    ['port 26379', `port ${port}`],
    ['10.0.0.21 6379', `127.0.0.1 ${primaryPort}`],
  ])
  return startServer('sentinel', port, text, ['--sentinel'])
}

function startServer(
  name: string,
  port: number,
  text: string,
  options: readonly string[],
): Promise<TestServer> {
  const folder = temporaryFolder(name)
  const file = join(folder, `${name}.conf`)
  writeFileSync(file, `${text}dir ${folder}\n`)
  const command = ['redis-server', file, ...options]
  const url = `redis://127.0.0.1:${port}`
  return run({ folder, port, command, url, stopSignal: 'SIGTERM', greet: () => ping(port) })
}

/** The server's answer to one command. All answers here are small, and come in one chunk. */
export async function answerTo(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write(`${command}\r\n`)
    const [reply] = (await once(socket, 'data')) as [Buffer]
    return reply.toString()
  } finally {
    socket.destroy()
  }
}
