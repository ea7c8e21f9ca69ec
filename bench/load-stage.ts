/** A gateway whose upstreams are played by one fake provider, and who sends to it: each a process of its own. */
import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { freePort, httpReady, scriptOn, spawnOn } from './processes.ts'
import type { Paced, Told } from './paced-sender.ts'

const GATEWAY_CORE = 0
export const OTHER_CORE = 1
/** The width is at the end of the name, where the provider reads it: small answers, so that load is about calls. */
const WIDTH = 16

export interface Provider {
  readonly url: string
  readonly pid: number
}

export async function startProvider(folder: string): Promise<Provider> {
  const port = await freePort()
  const program = join(import.meta.dirname, '../tools/fake-provider/main.ts')
  const args = [program, '--port', String(port), '--log', join(folder, `served-${port}.jsonl`)]
  const { pid } = spawnOn(OTHER_CORE, process.execPath, args, {})
  const url = `http://127.0.0.1:${port}`
  await httpReady(`${url}/_health`)
  return { url, pid }
}

export interface GatewayNeeds {
  /** Base URLs of the deployments of each model. */
  readonly models: Readonly<Record<string, readonly string[]>>
  readonly projects: readonly string[]
}

export interface Gateway {
  readonly port: number
  readonly pid: number
  readonly keyOf: (project: string) => string
}

export async function startGateway(folder: string, { models, projects }: GatewayNeeds): Promise<Gateway> {
  const [port, controlPort] = [await freePort(), await freePort()]
  const urls = [...new Set(Object.values(models).flat())]
  const nameOf = (url: string): string => `upstream-${urls.indexOf(url)}`
  const keyOf = (project: string): string => `load-${project}-${'0123456789abcdef'.repeat(2)}`
  const config = join(folder, `torana-${port}.yaml`)
  writeFileSync(
    config,
    JSON.stringify({
      upstreams: Object.fromEntries(
        urls.map((url) => [
          nameOf(url),
          { dialect: 'openai', baseUrl: url, apiKey: 'sk-upstream-0123456789' },
        ]),
      ),
      models: Object.fromEntries(
        Object.entries(models).map(([id, on]) => [
          id,
          {
            kind: 'embedding',
            embedding: { dimensions: id.endsWith('-w16') ? WIDTH : 1536 },
            price: 'free',
            // Each text is sent once; probes would be calls that nobody counted.
            spaceGuard: false,
            deployments: on.map((url) => ({
              upstream: nameOf(url),
              model: id,
              capabilities: { encodings: ['base64'] },
            })),
          },
        ]),
      ),
      projects: Object.fromEntries(
        projects.map((project) => [project, { keys: [{ name: project, secret: keyOf(project) }] }]),
      ),
    }),
  )
  const program = join(import.meta.dirname, '../server/bin/torana.js')
  // As `npm start` does.
  const { pid } = spawnOn(GATEWAY_CORE, process.execPath, ['--max-semi-space-size=32', program, 'start'], {
    PORT: String(port),
    CONTROL_PORT: String(controlPort),
    TORANA_CONFIG: config,
    TORANA_DATA_DIR: join(folder, `data-${port}`),
    DATABASE_URL: 'memory:',
    LOG_LEVEL: 'silent',
  })
  await httpReady(`http://127.0.0.1:${port}/readyz`)
  return { port, pid, keyOf }
}

export function send(paced: Paced): Promise<readonly (readonly Told[])[]> {
  return scriptOn<readonly (readonly Told[])[]>(OTHER_CORE, 'paced-sender.ts', paced).answer
}

export function percentile(told: readonly Told[], share: number): number {
  const sorted = told.map(([, tookMs]) => tookMs).toSorted((left, right) => left - right)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}

export function answered(told: readonly Told[]): readonly Told[] {
  return told.filter(([, , status]) => status === 200)
}

export function statusesOf(told: readonly Told[]): string {
  const counts = new Map<string, number>()
  for (const [, , status, , code] of told) {
    const name = `${status} ${code}`.trim()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ')
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

/** Figures of a busy machine are to be read beside this. */
export function loadText(): string {
  return `load average ${loadavg()[0]?.toFixed(1)}`
}
