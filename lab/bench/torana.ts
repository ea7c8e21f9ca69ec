/** A node of a bench, with what `npm start` gives it. */
import { join } from 'node:path'
import { SOURCE_PROGRAM } from '../../server/test/support/process.ts'
import type { Started } from '../processes.ts'
import { DISCARD, startTorana as launchTorana, type ToranaOptions } from '../torana.ts'

export interface StartedTorana extends Started {
  readonly port: number
  readonly controlPort: number
  readonly configFile: string
  readonly dataFolder: string
}

/** How long a start may take, unless a bench says otherwise. */
const READY_MS = 60_000
/** Of the control API of every node that a bench starts. */
const ADMIN_TOKEN = 'a-token-of-the-benches-0123456789'
/** Parallel requests: the control API creates one key at a time. */
const STORED_AT_ONCE = 16
const MEMORY_NODE = join(import.meta.dirname, 'memory-node.ts')

/** As `npm start` does with a DATABASE_URL; without one, the node has no ledger and its stores are in memory. */
export async function startTorana(options: ToranaOptions): Promise<StartedTorana> {
  const { flags = [], env = {}, logFile = DISCARD, program = SOURCE_PROGRAM } = options
  const torana = await launchTorana({
    patienceMs: READY_MS,
    asksReadyz: true,
    ...options,
    logFile,
    flags: ['--max-semi-space-size=32', ...flags],
    ...(env['DATABASE_URL'] === undefined ? { program: MEMORY_NODE, args: [] } : { program }),
    env: { TORANA_ADMIN_TOKEN: ADMIN_TOKEN, ...env },
  })
  const { pid, url: origin, port, controlPort, configFile, dataFolder } = torana
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

/** Of a node with a store. */
export const BENCH_SECRET = 'a-secret-of-the-bench-0123456789'
export const HOSTED_MODEL = 'text-embedding-3-small'

/** A model of the catalog at one upstream. `entry`: beside its deployment. */
export function hostedConfig(baseUrl: string, entry: object = {}, model = HOSTED_MODEL): object {
  return {
    upstreams: { own: { dialect: 'openai', provider: 'openai', baseUrl, apiKey: 'bench' } },
    // Probed, it would look wrong: it answers everything with the same vector.
    models: { [model]: { spaceGuard: false, deployments: [{ upstream: 'own' }], ...entry } },
  }
}

/** `model-0` and so on, which differ in their names alone. */
export function manyModels(count: number, baseUrl: string, model: object = EMBEDDING): object {
  return {
    upstreams: { own: { dialect: 'openai', baseUrl, apiKey: 'sk-upstream-0123456789' } },
    models: Object.fromEntries(Array.from({ length: count }, (_, index) => [`model-${index}`, model])),
  }
}

const EMBEDDING = {
  kind: 'embedding',
  embedding: { dimensions: 1536 },
  price: { usdPerMillionTokens: 0.02 },
  spaceGuard: false,
  deployments: [{ upstream: 'own', model: HOSTED_MODEL, capabilities: { encodings: ['base64', 'float'] } }],
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
