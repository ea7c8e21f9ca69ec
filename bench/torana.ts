/** Torana and the fake provider, each as a process of its own. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, httpReady, spawnOn, type Started } from './processes.ts'

export interface ToranaOptions {
  readonly core: number | string
  /** For its file and its data. */
  readonly folder: string
  /** The content of torana.yaml. */
  readonly config: object
  /** Options of Node, beside those that `npm start` gives it. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Undefined: its log is nobody's. */
  readonly logFile?: string
}

export interface StartedTorana extends Started {
  readonly port: number
  readonly controlPort: number
  readonly dataFolder: string
}

/** As `npm start` does. It keeps nothing, unless DATABASE_URL says so. */
export async function startTorana(options: ToranaOptions): Promise<StartedTorana> {
  const { core, folder, config, flags = [], env = {}, logFile } = options
  const [port, controlPort] = [await freePort(), await freePort()]
  const configFile = join(folder, `torana-${port}.yaml`)
  const dataFolder = join(folder, `data-${port}`)
  writeFileSync(configFile, JSON.stringify(config))
  const program = join(import.meta.dirname, '../server/bin/torana.js')
  const args = ['--max-semi-space-size=32', ...flags, program, 'start']
  const environment = {
    PORT: String(port),
    CONTROL_PORT: String(controlPort),
    TORANA_CONFIG: configFile,
    TORANA_DATA_DIR: dataFolder,
    DATABASE_URL: 'memory:',
    ...env,
  }
  const { pid } = spawnOn(core, process.execPath, args, environment, logFile)
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/readyz`)
  return { pid, origin, port, controlPort, dataFolder }
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
  const program = join(import.meta.dirname, '../tools/fake-provider/main.ts')
  const command = [process.execPath, program, '--port', String(port), '--log', log]
  const { pid } = spawnOn(core, 'nice', ['-n', String(niceness), ...command], {})
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/_health`)
  return { pid, origin, log }
}
