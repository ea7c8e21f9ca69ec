/** The calls of a probe that looks like the traffic: all probe texts, in calls of the traffic's size. */
import type { CallSize } from './call-size.ts'
import { PROBE_TEXTS } from './probe-texts.ts'

/** One call of a probe. */
export interface ProbeCall {
  readonly texts: readonly string[]
  /** Where the probe texts stand in it, by their index. All others only fill it. */
  readonly places: ReadonlyMap<number, number>
}

/** Tokens of all probe texts together, about. */
export const ALL_TEXTS_TOKENS = 240

/**
 * The calls of a probe of this size. At least half of the inputs of a call with several are as long as the traffic's; probe texts are
 * as long as they are, so that many calls hold few of them each. `turn` moves them to other places in the next probe: a server may be
 * wrong at some of them only.
 */
export function probeCalls(size: CallSize, turn: number): readonly ProbeCall[] {
  const inputs = Math.max(1, size.inputs)
  const own = textsPerCall(inputs)
  const length = fillTokens(size)
  return Array.from({ length: PROBE_TEXTS.length / own }, (_, call) => {
    const places = new Map<number, number>()
    const byPlace = new Map<number, number>()
    const apart = Math.floor(inputs / own)
    for (let at = 0; at < own; at += 1) {
      const place = (turn + call + at * apart) % inputs
      const text = (call * own + ((at + turn) % own)) % PROBE_TEXTS.length
      places.set(text, place)
      byPlace.set(place, text)
    }
    const texts = Array.from({ length: inputs }, (_input, place) => {
      const text = byPlace.get(place)
      return text === undefined ? fillText(length, turn + place) : (PROBE_TEXTS[text] as string)
    })
    return { texts, places }
  })
}

/** About what a probe of this size costs. */
export function probeTokens(size: CallSize): number {
  const inputs = Math.max(1, size.inputs)
  const own = textsPerCall(inputs)
  return ALL_TEXTS_TOKENS + (PROBE_TEXTS.length / own) * (inputs - own) * fillTokens(size)
}

/** A power of two, so that the calls of a probe have equally many. */
function textsPerCall(inputs: number): number {
  return Math.max(1, Math.min(PROBE_TEXTS.length, 2 ** (30 - Math.clz32(inputs))))
}

function fillTokens({ inputs, tokens }: CallSize): number {
  return Math.max(1, Math.ceil(tokens / Math.max(1, inputs)))
}

/** Words that are one token each for the tokenizers of most models. */
const WORDS =
  'sea fog oak sun ice map ink bed cup law dog red arm art bus day egg gas job key leg net oil pen rim sky tea rye win age box air'.split(
    ' ',
  )

/** A text of about this many tokens. Texts of neighbouring numbers differ. */
export function fillText(tokens: number, number: number): string {
  const words: string[] = []
  for (let at = 0; at < tokens; at += 1)
    words.push(WORDS[(number * 7 + at * (1 + (number % 5) * 2)) % WORDS.length] as string)
  return words.join(' ')
}
