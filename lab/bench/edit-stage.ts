/** A gateway, an upstream for edits and one for embeddings, each in its own process. */
import { readFileSync } from 'node:fs'
import { startWatched, type GatewayWatch } from './gateway-watch.ts'
import { stopAll } from '../processes.ts'
import { startProvider } from '../provider.ts'

export const MEGABYTE = 1024 * 1024
export const EDITS_MODEL = 'edits'
export const EMBEDDINGS_MODEL = 'embed-w256'
/** On one core alone its collector's threads would compete with it. */
const GATEWAY_CORES = '0,1'
export const OTHER_CORE = 1
/** The load yields to the processes that measure it. */
export const LOAD_NICENESS = 10
/** 16 images of 50 MB, and the form around them. */
const EDITS_BODY_BYTES = 16 * 50 * MEGABYTE + MEGABYTE

export interface Stage {
  readonly url: string
  /** The upstream of the embeddings, as the gateway calls it. */
  readonly directUrl: string
  readonly key: string
  readonly watch: GatewayWatch
  /** The digests of the images that the upstream got, in their order, by the digest of the prompt. */
  received(): ReadonlyMap<string, readonly string[]>
  /** With them end all connections to them, which the gateway would keep for a minute. */
  stopUpstreams(): Promise<void>
}

/** `flags` are options of Node for the gateway, beside those that `npm start` gives it. */
export async function startStage(folder: string, flags: readonly string[] = []): Promise<Stage> {
  const key = `edits-${'0123456789abcdef'.repeat(2)}`
  const [edits, embeddings] = [
    await startProvider(OTHER_CORE, folder, LOAD_NICENESS),
    await startProvider(OTHER_CORE, folder),
  ]
  const directUrl = `${embeddings.origin}/plain`
  const torana = await startWatched({
    core: GATEWAY_CORES,
    folder,
    config: {
      limits: { editsBodyBytes: EDITS_BODY_BYTES },
      upstreams: {
        edits: {
          dialect: 'openai',
          baseUrl: `${edits.origin}/hash-only/v1`,
          apiKey: 'sk-upstream-0123456789',
        },
        embeddings: { dialect: 'openai', baseUrl: `${directUrl}/v1`, apiKey: 'sk-upstream-0123456789' },
      },
      models: {
        [EDITS_MODEL]: {
          kind: 'image',
          price: 'free',
          deployments: [{ upstream: 'edits', capabilities: { edits: { maxInputs: 16 } } }],
        },
        [EMBEDDINGS_MODEL]: {
          kind: 'embedding',
          embedding: { dimensions: 256 },
          price: 'free',
          // A probe in the middle of a measurement would be part of it.
          spaceGuard: false,
          deployments: [{ upstream: 'embeddings', capabilities: { encodings: ['base64'] } }],
        },
      },
    },
    flags,
    env: { TORANA_BOOTSTRAP_KEY: key },
  })
  return {
    url: torana.origin,
    directUrl,
    key,
    watch: torana.watch,
    received: () => receivedIn(edits.log),
    stopUpstreams: () => stopAll(edits.pid, embeddings.pid),
  }
}

interface Entry {
  readonly operation?: string
  readonly promptSha256?: string
  readonly parts?: readonly { readonly sha256: string }[]
}

function receivedIn(log: string): Map<string, string[]> {
  const entries = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry)
  return new Map(
    entries
      .filter(({ operation }) => operation === 'edit')
      .map(({ promptSha256 = '', parts = [] }) => [promptSha256, parts.map(({ sha256 }) => sha256)]),
  )
}
