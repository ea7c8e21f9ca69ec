/** A gateway that is measured beside others: how it is started, and how it is asked. */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The upstream of one model of the gateway. It has the model's name. */
export interface UpstreamPart {
  readonly name: string
  readonly kind: 'embedding' | 'image'
  /** Ends with `/v1`. */
  readonly baseUrl: string
}

export interface Stage {
  /** Its own. */
  readonly folder: string
  /** As `taskset` has them. */
  readonly cores: string
  /** The one of upstream, load, and the stores of a gateway. */
  readonly loadCore: number
  readonly upstreams: readonly UpstreamPart[]
}

/** How one upstream is asked for. */
export interface Target {
  /** Up to and without the route. */
  readonly url: string
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
}

export interface RunningContender {
  readonly pid: number
  readonly target: (upstream: string) => Target
  /** Processes of PostgreSQL and Redis, where it has them. */
  readonly storePids: () => readonly number[]
  readonly stop: () => Promise<void>
}

export interface Contender {
  readonly id: string
  readonly name: string
  /** 2: it may use both cores, which it then shares with upstream and load. */
  readonly cores: 1 | 2
  /** As the page states them. */
  readonly settings: string
  /** Undefined: it is not installed here. */
  readonly version: () => string | undefined
  /** The version that is measured. Undefined: that of this checkout. */
  readonly pinned?: string
  readonly start: (stage: Stage) => Promise<RunningContender>
}

/** Programs of others are installed outside of the repository, by `npm run lab -- bench/peers --install`. */
export const PEERS_FOLDER: string = process.env['TORANA_PEERS_DIR'] ?? join(homedir(), '.cache/torana-peers')

/** The credential that upstreams receive. */
export const UPSTREAM_KEY = 'sk-upstream-0123456789'
/** A key of a caller. */
export const CALLER_KEY = `sk-bf-bench-${'0123456789abcdef'.repeat(2)}`
/** The upstreams' names of the models. */
export const UPSTREAM_MODEL = { embedding: 'text-embedding-3-small', image: 'gpt-image-1' } as const
