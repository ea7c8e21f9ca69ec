/** Sends parallel edits at a given total rate, and reports how each was answered. */
import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { largePictures, sendEdit } from '../../server/test/support/large-edits.ts'

export interface Senders {
  readonly url: string
  readonly key: string
  readonly model: string
  readonly edits: number
  readonly picturesEach: number
  readonly pictureBytes: number
  /** Zero: as fast as it goes. */
  readonly bytesPerSecond: number
}

export interface Sent {
  readonly edits: readonly {
    readonly status: number
    readonly promptSha256: string
    /** Of the images, in their order. */
    readonly sha256s: readonly string[]
    /** Empty when all went well. */
    readonly error: string
  }[]
  /** When the last byte was taken, in milliseconds since 1970. */
  readonly allInAtMs: number
  /** Until then. */
  readonly inSeconds: number
  /** From then on, until the last answer. */
  readonly outSeconds: number
}

/** Backlog that a delayed sender may send at once. */
const CREDIT_MS = 10

if (import.meta.main) {
  const { edits, picturesEach, pictureBytes, bytesPerSecond, ...to } = JSON.parse(
    process.argv[2] ?? '',
  ) as Senders
  const next = await largePictures(pictureBytes)
  const pace = bytesPerSecond > 0 ? paceOf(bytesPerSecond) : async () => {}
  const startedMs = performance.now()
  let lastSentMs = startedMs
  const sent = await Promise.all(
    Array.from({ length: edits }, async (_, index) => {
      const prompt = `Edit ${index} of ${process.pid}`
      const pictures = Array.from({ length: picturesEach }, next)
      const { status, text, sentAtMs } = await sendEdit({ ...to, prompt, pictures, pace })
      lastSentMs = Math.max(lastSentMs, sentAtMs)
      return {
        status,
        promptSha256: createHash('sha256').update(prompt).digest('hex'),
        sha256s: pictures.map(({ sha256 }) => sha256),
        error: status === 200 ? '' : text.slice(0, 300),
      }
    }),
  )
  const answer: Sent = {
    edits: sent,
    allInAtMs: performance.timeOrigin + lastSentMs,
    inSeconds: (lastSentMs - startedMs) / 1000,
    outSeconds: (performance.now() - lastSentMs) / 1000,
  }
  process.stdout.write(JSON.stringify(answer))
}

function paceOf(bytesPerSecond: number): (bytes: number) => Promise<unknown> {
  let dueMs = performance.now()
  return async (bytes) => {
    const nowMs = performance.now()
    dueMs = Math.max(dueMs, nowMs - CREDIT_MS) + (bytes / bytesPerSecond) * 1000
    if (dueMs > nowMs) await wait(dueMs - nowMs)
  }
}
