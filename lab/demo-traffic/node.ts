/** A node of its own for the demo, as a process, with a configuration in its data folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { configFor } from './install.ts'

const PROGRAM = join(import.meta.dirname, '../../server/bin/torana.js')

export interface DemoNode {
  readonly url: string
  readonly controlUrl: string
  readonly adminToken: string
  /** The link to the console that a first start prints, if it printed one. */
  readonly welcome: string | undefined
  stop(): Promise<void>
}

export interface DemoNodeOptions {
  readonly folder: string
  readonly providerUrl: string
  readonly port: number
  readonly controlPort: number
  readonly adminToken: string
}

/** What else stands in the environment goes on to the node: `DATABASE_URL`, `REDIS_URL`, `TORANA_SECRET` … */
export async function startDemoNode(options: DemoNodeOptions): Promise<DemoNode> {
  const { folder, providerUrl, port, controlPort, adminToken } = options
  mkdirSync(folder, { recursive: true })
  const configFile = join(folder, 'torana.yaml')
  writeFileSync(configFile, `${JSON.stringify(configFor(providerUrl), undefined, 2)}\n`)
  const child = spawn(process.execPath, [PROGRAM, 'start'], {
    env: {
      ...process.env,
      PORT: String(port),
      CONTROL_PORT: String(controlPort),
      TORANA_CONFIG: configFile,
      TORANA_DATA_DIR: join(folder, 'data'),
      TORANA_ADMIN_TOKEN: adminToken,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let welcome: string | undefined
  const ready = Promise.withResolvers<{ url: string; controlUrl: string }>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    welcome ??= /https?:\/\/\S+\/welcome#token=\S+/.exec(line)?.[0]
    if (line.includes('"message":"ready"'))
      ready.resolve(JSON.parse(line) as { url: string; controlUrl: string })
  })
  const gone = ended.then(() => {
    throw new Error('the node ended before it was ready: its own words stand above')
  })
  gone.catch(() => {})
  const { url, controlUrl } = await Promise.race([ready.promise, gone])
  return {
    url,
    controlUrl,
    adminToken,
    get welcome() {
      return welcome
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
