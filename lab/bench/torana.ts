/** Torana and the fake provider, each in its own process. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, httpReady, spawnOn, type Started } from './processes.ts'

export interface ToranaOptions {
  readonly core: number | string
  /** For its file and its data. */
  readonly folder: string
  /** The content of torana.yaml, or its text. */
  readonly config: object | string
  /** Options of Node, beside those that `npm start` gives it. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Undefined: its log is discarded. */
  readonly logFile?: string
  /** Undefined: the sources of this repository. Only with a DATABASE_URL. */
  readonly program?: string | undefined
  /** How long a start may take. */
  readonly patienceMs?: number
}

export interface StartedTorana extends Started {
  readonly port: number
  readonly controlPort: number
  readonly configFile: string
  readonly dataFolder: string
}

/** Of the control API of every node that a bench starts. */
const ADMIN_TOKEN = 'a-token-of-the-benches-0123456789'
/** Parallel requests: the control API creates one key at a time. */
const STORED_AT_ONCE = 16
const SOURCES = join(import.meta.dirname, '../../server/bin/torana.js')
const MEMORY_NODE = join(import.meta.dirname, 'memory-node.ts')

/** As `npm start` does with a DATABASE_URL; without one, the node has no ledger and its stores are in memory. */
export async function startTorana(options: ToranaOptions): Promise<StartedTorana> {
  const { core, folder, config, flags = [], env = {}, logFile, program = SOURCES, patienceMs } = options
  const [port, controlPort] = [await freePort(), await freePort()]
  const configFile = join(folder, `torana-${port}.yaml`)
  const dataFolder = join(folder, `data-${port}`)
  writeFileSync(configFile, typeof config === 'string' ? config : JSON.stringify(config))
  const command = env['DATABASE_URL'] === undefined ? [MEMORY_NODE] : [program, 'start']
  const args = ['--max-semi-space-size=32', ...flags, ...command]
  const environment = {
    PORT: String(port),
    CONTROL_PORT: String(controlPort),
    TORANA_CONFIG: configFile,
    TORANA_DATA_DIR: dataFolder,
    TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
    ...env,
  }
  const { pid } = spawnOn(core, process.execPath, args, environment, logFile)
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/readyz`, patienceMs)
  return { pid, origin, port, controlPort, configFile, dataFolder }
}

/** Just after a start, chores over a large database may take longer than a statement may. */
const STORING_ATTEMPTS = 5

/** A key as the control API takes it. */
export interface StoredKey {
  readonly name: string
  readonly secret: string
  readonly limits?: Readonly<Record<string, number>>
}

/** Creates keys in the store, as people do. A declared key would hide the cost of finding one. */
export async function storeKeys(
  { controlPort }: Pick<StartedTorana, 'controlPort'>,
  keys: readonly StoredKey[],
): Promise<void> {
  for (let from = 0; from < keys.length; from += STORED_AT_ONCE)
    await Promise.all(
      keys.slice(from, from + STORED_AT_ONCE).map(async (key) => {
        for (let attempt = 1; ; attempt += 1) {
          const answer = await fetch(`http://127.0.0.1:${controlPort}/api/v1/keys`, {
            method: 'POST',
            headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
            body: JSON.stringify({ project: 'bench', ...key }),
          })
          // From an earlier attempt, whose answer left open whether the key was made.
          if (answer.status === 201 || (answer.status === 409 && attempt > 1)) return
          const text = await answer.text()
          if (answer.status !== 503 || attempt === STORING_ATTEMPTS)
            throw new Error(`the key ${key.name} was not stored: ${text}`)
        }
      }),
    )
}

/** The node's answers other than 200, with its queues and limits: why a run has failed. */
export async function refusalsOf({ controlPort }: Pick<StartedTorana, 'controlPort'>): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${controlPort}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  const isTelling = /^torana_(requests_total\{.*status="(?!200)|requests_refused|deployment_calls_limit)/
  return (await answer.text())
    .split('\n')
    .filter((line) => isTelling.test(line))
    .join('\n')
}

/** Options of Node that write a profile into `results` when the process ends. */
export function profileFlags(isWanted: boolean): readonly string[] {
  return isWanted ? ['--cpu-prof', `--cpu-prof-dir=${join(import.meta.dirname, 'results')}`] : []
}

export interface StartedProvider extends Started {
  /** The file to which it writes what it served. */
  readonly log: string
}

export async function startProvider(core: number, folder: string, niceness = 0): Promise<StartedProvider> {
  const port = await freePort()
  const log = join(folder, `served-${port}.jsonl`)
  const program = join(import.meta.dirname, '../fake-provider/main.ts')
  const command = [process.execPath, program, '--port', String(port), '--log', log]
  const { pid } = spawnOn(core, 'nice', ['-n', String(niceness), ...command], {})
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/_health`)
  return { pid, origin, log }
}
