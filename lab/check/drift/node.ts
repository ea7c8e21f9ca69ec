/** A node before the fake provider, and what it is asked. */
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../processes.ts'
import { startTorana, type Torana } from '../../torana.ts'
import type { Workplace } from '../../workplace.ts'

export const WIDTH = 16
const ADMIN_TOKEN = 'drift-admin-token-0123456789'
export const KEY = 'drift-key-0123456789abcdef01234567'

/** Eight models are probed in a second. */
const REFERENCES_MS = 120_000

export interface NodeNeeds {
  readonly place: Workplace
  readonly name: string
  readonly databaseUrl: string
  readonly upstreams: Readonly<Record<string, object>>
  readonly models: Readonly<Record<string, object>>
  readonly limits?: object
}

/** Ready, and every model has its reference: hundreds of them take longer than a start waits. */
export async function startNode(needs: NodeNeeds): Promise<Torana> {
  const { place, name, databaseUrl, upstreams, models, limits = {} } = needs
  const projects = { app: { keys: [{ name: 'app', secret: KEY }] } }
  const torana = await startTorana({
    folder: place.folder,
    name,
    config: { upstreams, models, projects, limits },
    env: {
      DATABASE_URL: databaseUrl,
      TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
      TORANA_SECRET: 'drift-secret-0123456789abcdef',
    },
    asksReadyz: true,
  })
  let missing: readonly string[] = []
  await until('every model has a reference', REFERENCES_MS, async () => {
    missing = await modelsWithoutSpace(torana)
    return missing.length === 0
  }).catch((error: unknown) => {
    throw new Error(`no reference of ${missing.join(', ')}`, { cause: error })
  })
  return torana
}

const LOOK_MS = 500

/** Models with a deployment that was quarantined since the watch began: where another one serves, no answer need show it. */
export class QuarantineWatch implements AsyncDisposable {
  readonly #models = new Set<string>()
  readonly #stopped = new AbortController()
  readonly #looking: Promise<void>

  constructor(torana: Torana) {
    this.#looking = this.#look(torana)
  }

  has(model: string): boolean {
    return this.#models.has(model)
  }

  async #look(torana: Torana): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      for (const { model, deployments } of await spacesOf(torana))
        if (deployments.some(({ state }) => state === 'quarantined')) this.#models.add(model)
      await wait(LOOK_MS)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort()
    await this.#looking
  }
}

/** Models of which a deployment was not compared yet. */
async function modelsWithoutSpace(torana: Torana): Promise<readonly string[]> {
  const spaces = await spacesOf(torana)
  return spaces.flatMap(({ model, guarded, reference, deployments }) => {
    const isThere = reference !== null && deployments.every(({ state }) => state === 'trusted')
    return !guarded || isThere ? [] : [model]
  })
}

async function spacesOf({ controlUrl }: Torana): Promise<readonly SpaceState[]> {
  const answer = await fetch(`${controlUrl}/api/v1/spaces`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  return ((await answer.json()) as { readonly data: readonly SpaceState[] }).data
}

/** What `GET /spaces` says of a model. */
interface SpaceState {
  readonly model: string
  readonly guarded: boolean
  readonly reference: object | null
  readonly deployments: readonly { readonly state: string }[]
}

/** An answer to one request, as its caller gets it. */
export interface Answered {
  readonly status: number
  /** Of an error. */
  readonly code: string
  readonly headers: Headers
  readonly body: string
}

export async function post(url: string, body: object): Promise<Answered> {
  const answer = await fetch(`${url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  const code = answer.ok ? '' : (/"code": ?"(\w+)"/.exec(text)?.[1] ?? 'none')
  return { status: answer.status, code, headers: answer.headers, body: text }
}

/** Unix milliseconds with their fractions: provider and callers run in this process, and share this clock. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now()
}
