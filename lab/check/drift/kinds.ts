/** What a changed upstream does wrong, and the requests of which some meet it. */
import type { Behaviour } from '../../fake-provider/behaviour.ts'
import { tokensOf } from '../../fake-provider/vectors.ts'
import { PROBE_TEXTS } from '../../../server/src/core/embedding/probe-texts.ts'
import type { Question } from './run.ts'

/**
 * `alone`: the model's only deployment changes. `second`: one of two does. `large`: it changes in calls with many inputs only. `text`:
 * in texts as long as one of the probe texts only, another one in each run. `replicas`: every second call reaches the changed one of
 * two replicas behind one address. `chance`: each call reaches either of them by chance.
 */
export const KINDS = ['alone', 'second', 'large', 'text', 'replicas', 'chance'] as const
export type Kind = (typeof KINDS)[number]

/** Those that show in calls of the traffic's size: their traffic has to pay for such probes before the change. */
export function isSized(kind: Kind): boolean {
  return kind === 'large' || kind === 'text'
}

/** Whether every call reaches what has changed. */
export function isWhole(kind: Kind): boolean {
  return kind !== 'replicas' && kind !== 'chance'
}

const LARGE_INPUTS = 32
/** Bytes of a token, as the fake provider counts them. */
const TOKEN_BYTES = 4
/** Length of every text in a large call. */
const LARGE_BYTES = 32 * TOKEN_BYTES
/** Of a request with one text: no probe text has as many tokens. */
const SMALL_BYTES = 32

export function changeOf(kind: Kind, run: number): Partial<Behaviour> {
  const change = { vectors: 'other-model' }
  if (kind === 'large') return { ...change, traits: `drifts-from-${LARGE_INPUTS}` }
  if (kind === 'text') return { ...change, traits: `drifts-at-${probeBytes(run)}` }
  if (isWhole(kind)) return change
  return { ...change, share: 0.5, byChance: kind === 'chance' }
}

function probeBytes(run: number): number {
  return Buffer.byteLength(PROBE_TEXTS[run % PROBE_TEXTS.length] ?? '')
}

/** The requests of a run: all of them have as many inputs and tokens. */
export function questionsOf(kind: Kind, run: number): (number: number) => Question {
  if (!isSized(kind)) return (number) => ({ texts: [padded(`${run} ${number}`, SMALL_BYTES)], watched: 0 })
  return (number) => {
    const watched = number % LARGE_INPUTS
    const texts = Array.from({ length: LARGE_INPUTS }, (_, place) => {
      const bytes = kind === 'text' && place === watched ? probeBytes(run) : LARGE_BYTES
      return padded(`${number} ${place} ${run}`, bytes)
    })
    return { texts, watched }
  }
}

/** Ends in letters, so that no two of them are equal, unless it must be very short. */
function padded(text: string, bytes: number): string {
  return text.padEnd(bytes, ' text').slice(0, bytes)
}

/** Inputs and tokens of one request of a run. What has others is a probe. */
export function sizeOf(kind: Kind, run: number): { readonly inputs: number; readonly tokens: number } {
  const { texts } = questionsOf(kind, run)(1)
  return { inputs: texts.length, tokens: texts.reduce((sum, text) => sum + tokensOf(text), 0) }
}
