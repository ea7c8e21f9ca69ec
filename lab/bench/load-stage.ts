/** A gateway whose upstreams are played by one fake provider, and its senders: each in its own process. */
import { SENDER, type Paced, type SentRequest } from '../sender.ts'
import { Latencies } from '../load.ts'
import { scriptOn } from '../processes.ts'
import { startTorana } from './torana.ts'

const GATEWAY_CORE = 0
export const OTHER_CORE = 1
/** The width is at the end of the name, where the provider reads it: small answers, so that load is about calls. */
const WIDTH = 16

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
  const urls = [...new Set(Object.values(models).flat())]
  const nameOf = (url: string): string => `upstream-${urls.indexOf(url)}`
  const keyOf = (project: string): string => `load-${project}-${'0123456789abcdef'.repeat(2)}`
  const { port, pid } = await startTorana({
    core: GATEWAY_CORE,
    folder,
    config: {
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
            // Each text is sent once; probes would be uncounted calls.
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
    },
    env: { LOG_LEVEL: 'silent' },
  })
  return { port, pid, keyOf }
}

export function send(paced: Paced): Promise<readonly (readonly SentRequest[])[]> {
  return scriptOn<readonly (readonly SentRequest[])[]>(OTHER_CORE, SENDER, paced).answer
}

export function latencyMs(sent: readonly SentRequest[], share: number): number {
  return Latencies.of(sent.map(([, tookMs]) => tookMs)).atMs(share)
}

export function answered(sent: readonly SentRequest[]): readonly SentRequest[] {
  return sent.filter(([, , status]) => status === 200)
}

export function statusesOf(sent: readonly SentRequest[]): string {
  const counts = new Map<string, number>()
  for (const [, , status, , code] of sent) {
    const name = `${status} ${code}`.trim()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ')
}
