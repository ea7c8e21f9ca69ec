/** One Torana for the whole matrix, configured with every model of every row, as its operator would start it. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { cacheFolder, toranaProgram } from './folders.ts'
import type { ModelEntry, Played, Row } from './rows.ts'

export interface Torana {
  /** What clients are given. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly stop: () => Promise<void>
}

/** Short, because one row waits for it; long enough for the largest answer on a busy machine. */
const attemptTimeoutMs = 6_000
/**
 * An upstream that never answers has one call at a time after a dozen time-outs. Two clients ask at once, so that one of them
 * waits for the other's time-out.
 */
const queueWaitMs = 2 * attemptTimeoutMs
/** Loading the built-in facts and the configuration takes a second; more than this is a hang. */
const startTimeoutMs = 120_000

/** What upstreams are sent. It looks like no well-known provider's keys, and no error may repeat it. */
export const upstreamKey = 'harbour-lantern-27'

/** `common` is said of every model. */
export function configFor(
  rows: readonly Pick<Row, 'models'>[],
  providerUrl: string,
  common: object = {},
): object {
  const upstreams: Record<string, unknown> = {}
  const models: Record<string, unknown> = {}
  for (const [id, model] of rows.flatMap((row) => Object.entries(row.models))) {
    const deployments = deploymentsOf(id, model, providerUrl, upstreams)
    models[id] = { ...common, ...model.entry, deployments }
  }
  return { upstreams, models, limits: { attemptTimeoutMs, queueWaitMs } }
}

function deploymentsOf(
  id: string,
  { played }: ModelEntry,
  providerUrl: string,
  upstreams: Record<string, unknown>,
): object[] {
  return played.map((one, priority) => {
    const name = `${id.replaceAll('+', '.')}-${priority}`
    upstreams[name] = { ...one.upstream, baseUrl: addressOf(one, providerUrl), apiKey: upstreamKey }
    return { model: 'embed', ...one.deployment, upstream: name, priority }
  })
}

export function addressOf({ traits, wire }: Played, providerUrl: string): string {
  return `${providerUrl}/${traits}/${wire}`
}

/** Nothing of the caller's environment but this: keys, addresses and proxies set there would change what is tested. */
export function bareEnvironment(): Record<string, string | undefined> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE }
}

/** Its log is written to the cache folder under that name. */
export async function startTorana(config: object, logName: string): Promise<Torana> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-conformance-'))
  const configFile = join(folder, 'torana.yaml')
  // Every JSON text is YAML.
  writeFileSync(configFile, JSON.stringify(config, null, 2))
  const env = bareEnvironment()
  const apiKey = execFileSync(process.execPath, [toranaProgram, 'key'], { env, encoding: 'utf8' }).trim()
  const child = spawn(process.execPath, [toranaProgram, 'start'], {
    cwd: folder,
    env: {
      ...env,
      PORT: '0',
      CONTROL_PORT: '0',
      TORANA_CONFIG: configFile,
      TORANA_DATA_DIR: join(folder, 'data'),
      TORANA_BOOTSTRAP_KEY: apiKey,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const log = createWriteStream(join(cacheFolder, logName))
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => log.write(`${line}\n`))
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))

  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
    log.end()
    rmSync(folder, { recursive: true, force: true })
  }
  const url = await Promise.race([
    readyUrl(lines),
    exited.then(() => undefined),
    delay(startTimeoutMs, undefined, { ref: false }),
  ])
  if (url === undefined) {
    await stop()
    throw new Error(`Torana did not start.\n${complaints}`)
  }
  return { baseUrl: `${url}/v1`, apiKey, stop }
}

function readyUrl(lines: ReturnType<typeof createInterface>): Promise<string> {
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      if (!line.includes('"ready"')) return
      const { message, msg, url } = JSON.parse(line) as { message?: string; msg?: string; url?: string }
      if ((message ?? msg) === 'ready' && url !== undefined) resolve(url)
    })
  })
}
