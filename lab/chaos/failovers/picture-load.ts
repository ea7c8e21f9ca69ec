/** Clients that ask for images all the time, and retry with the same key when the answer asks for it. */
import { setTimeout as wait } from 'node:timers/promises'
import { ask, order, type Order } from '../images/client.ts'
import { closedLoop } from '../../load.ts'
import { PICTURE_MODELS } from './terms.ts'

export interface PictureRecord {
  readonly order: Order
  /** Unix time of the first attempt. */
  readonly atMs: number
  readonly tookMs: number
  /** The answers before the last attempt. */
  readonly refusals: readonly string[]
}

export interface PictureLoad {
  readonly records: readonly PictureRecord[]
  /** Waits for the images in progress. */
  stop(): Promise<void>
}

const CLIENTS = 4
/** The first wait of the SDKs. */
const AGAIN_MS = 500
const PATIENCE_MS = 120_000

export function startPictureLoad(url: string): PictureLoad {
  const records: PictureRecord[] = []
  const stopped = new AbortController()
  let count = 0
  const loop = closedLoop({ clients: CLIENTS, signal: stopped.signal }, async () => {
    const index = count++
    const model = PICTURE_MODELS[index % PICTURE_MODELS.length] ?? PICTURE_MODELS[0]
    records.push(await persist(url, order('failover', index, { model })))
  })
  return {
    records,
    async stop() {
      stopped.abort()
      await loop
    },
  }
}

async function persist(url: string, one: Order): Promise<PictureRecord> {
  const atMs = Date.now()
  const refusals: string[] = []
  for (;;) {
    const said = await ask(url, one).then(
      ({ status, code }) => (status === 200 ? undefined : `${status} ${code}`),
      (error: unknown) => String(error),
    )
    const tookMs = Date.now() - atMs
    if (said === undefined) return { order: one, atMs, tookMs, refusals }
    refusals.push(said)
    if (tookMs > PATIENCE_MS) throw new Error(`${one.body.prompt}: no picture came: ${refusals.join(', ')}`)
    await wait(AGAIN_MS)
  }
}
