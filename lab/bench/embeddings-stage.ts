/** Torana beside the bare proxy: both at the same time on core 0 under equal load, nginx as upstream and wrk on core 1. */
import { startBare } from './parts.ts'
import { stopAll } from '../processes.ts'
import { loadScript } from '../wrk.ts'
import { GATEWAY_CORE, sideBySide, type Seen, type Subject } from './side-by-side.ts'
import { HOSTED_MODEL, hostedConfig, startTorana, storeKeys } from './torana.ts'

const KEY = `bench-${'0123456789abcdef'.repeat(2)}`

export interface Shape {
  readonly name: string
  readonly encoding: 'base64' | 'float'
  readonly path: string
}

export const BASE64: Shape = { name: '8 KB base64', encoding: 'base64', path: '/base64/v1' }
export const FLOAT: Shape = { name: '19 KB float', encoding: 'float', path: '/float/v1' }

export interface StageOptions {
  readonly folder: string
  readonly shape: Shape
  /** The address of nginx. */
  readonly origin: string
  readonly connections: number
  /** The bare proxy beside itself: how far from 1.00 noise alone leads. */
  readonly isControl?: boolean
  /** Options of Node for Torana. */
  readonly flags?: readonly string[]
  /** After how long a request counts as failed. */
  readonly timeoutSeconds?: number
}

export interface Window {
  readonly bare: Seen
  readonly torana: Seen
}

export interface EmbeddingsStage {
  /** Both under load for `seconds`. A failed request throws. */
  window(seconds: number): Promise<Window>
  stop(): Promise<void>
}

export async function startEmbeddingsStage(options: StageOptions): Promise<EmbeddingsStage> {
  const { folder, shape, origin, connections, timeoutSeconds, isControl = false } = options
  const load = { connections, ...(timeoutSeconds !== undefined && { timeoutSeconds }) }
  const script = loadScript(folder, { key: KEY, model: HOSTED_MODEL, answer: shape.encoding })
  const subjects = [
    await bareSubject(origin, shape.path),
    isControl ? await bareSubject(origin, shape.path) : await startGateway(options),
  ]
  return {
    async window(seconds) {
      const [bare, torana] = await sideBySide(subjects, { script, seconds, ...load })
      return { bare, torana } as Window
    },
    stop: () => stopAll(...subjects.map(({ pid }) => pid)),
  }
}

export async function bareSubject(origin: string, path: string, name = 'bare proxy'): Promise<Subject> {
  const bare = await startBare(origin, GATEWAY_CORE)
  return { name, pid: bare.pid, url: `${bare.origin}${path}/embeddings` }
}

async function startGateway({ folder, shape, origin, flags = [] }: StageOptions): Promise<Subject> {
  const config = hostedConfig(`${origin}${shape.path}`)
  const torana = await startTorana({ core: GATEWAY_CORE, folder, config, flags })
  await storeKeys(torana, [{ name: 'bench', secret: KEY }])
  return { name: 'Torana', pid: torana.pid, url: `${torana.origin}/v1/embeddings`, torana }
}
