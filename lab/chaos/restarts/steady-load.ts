/** Clients that ask all the time: on kept connections, on a new one for each request, and for slow images. */
import { Client } from 'undici'
import { GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import { closedLoop, Latencies } from '../../load.ts'

export const VECTORS = 'plain-w16'
export const PICTURES = 'slow-image'

/** Time that the fake provider takes for each image. */
export const PICTURE_MS = 30_000

const CLIENTS = 6
const PAUSE_MS = 250
/** Clients whose connections are idle for longer than a node keeps them. */
const SELDOM_CLIENTS = 3
const SELDOM_MS = 9000
const PICTURE_CLIENTS = 3
/** Each client has at most one. */
export const MAX_IN_PROGRESS = 2 * CLIENTS + SELDOM_CLIENTS + PICTURE_CLIENTS
/** Longest wait: a request that hangs is a failure. */
const ANSWER_MS = 90_000

interface LoadFigures {
  readonly what: string
  answered: number
  failed: number
  readonly latencies: Latencies
}

export interface SteadyLoad {
  /** Figures so far. */
  figures(): readonly LoadFigures[]
  /** So far; one that is taken out is forgiven. */
  failures(): string[]
  /** Forgets the slowest answer so far. */
  resetSlowest(): void
  /** Waits for the answers in progress. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly pictures?: boolean
}

export function startSteadyLoad(url: string, { pictures = true }: LoadOptions = {}): SteadyLoad {
  const kinds = ['kept connections', 'seldom used ones', 'new connections', 'pictures of 30 s']
  const [kept, seldom, fresh, slow] = kinds.map((what) => ({
    what,
    answered: 0,
    failed: 0,
    latencies: new Latencies(),
  })) as [LoadFigures, LoadFigures, LoadFigures, LoadFigures]
  const failures: string[] = []
  const stopped = new AbortController()
  const { signal } = stopped
  const loop = (
    figures: LoadFigures,
    options: { readonly clients: number; readonly pauseMs: number },
    ask: () => Promise<string | undefined>,
  ): Promise<void> =>
    closedLoop({ ...options, signal }, async () => {
      const startMs = performance.now()
      const failure = await ask()
      figures.latencies.record(performance.now() - startMs)
      if (failure === undefined) figures.answered += 1
      else {
        figures.failed += 1
        failures.push(`${new Date().toISOString()} ${figures.what}: ${failure}`)
      }
    })
  const clients: Client[] = []
  const keeping = (figures: LoadFigures, pauseMs: number): Promise<void> => {
    const client = new Client(url, { keepAliveTimeout: 600_000, keepAliveMaxTimeout: 600_000 })
    clients.push(client)
    return loop(figures, { clients: 1, pauseMs }, () => askVector(client))
  }
  const loops = [
    ...Array.from({ length: CLIENTS }, () => keeping(kept, PAUSE_MS)),
    ...Array.from({ length: SELDOM_CLIENTS }, () => keeping(seldom, SELDOM_MS)),
    loop(fresh, { clients: CLIENTS, pauseMs: PAUSE_MS }, () => onNew(url, askVector)),
    loop(slow, { clients: pictures ? PICTURE_CLIENTS : 0, pauseMs: PAUSE_MS }, () => onNew(url, askPicture)),
  ]
  return {
    figures: () => [kept, seldom, fresh, slow],
    failures: () => failures,
    resetSlowest() {
      for (const { latencies } of [kept, seldom, fresh, slow]) latencies.reset()
    },
    async stop() {
      stopped.abort()
      await Promise.all(loops)
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

async function onNew(
  url: string,
  ask: (client: Client) => Promise<string | undefined>,
): Promise<string | undefined> {
  const client = new Client(url)
  try {
    return await ask(client)
  } finally {
    await client.destroy()
  }
}

let asked = 0

function askVector(client: Client): Promise<string | undefined> {
  asked += 1
  return post(client, '/v1/embeddings', { model: VECTORS, input: `text ${asked}` })
}

function askPicture(client: Client): Promise<string | undefined> {
  asked += 1
  return post(client, '/v1/images/generations', { model: PICTURES, prompt: `picture ${asked}` })
}

/** Why it failed; undefined when it did not. */
async function post(client: Client, path: string, body: object): Promise<string | undefined> {
  try {
    const answer = await client.request({
      path,
      method: 'POST',
      headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
    })
    const text = await answer.body.text()
    return answer.statusCode === 200 ? undefined : `${answer.statusCode} ${text.slice(0, 200)}`
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return `${code ?? ''} ${message}`
  }
}
