/** Runs in a worker thread: byte-pair encoding, made linear by cutting runs without a boundary. */
import ranks from 'gpt-tokenizer/bpeRanks/cl100k_base'
import { countTokens, decode as decodeIds, setMergeCacheSize } from 'gpt-tokenizer/encoding/cl100k_base'
import type { TokenCount } from '#ports/tokens.ts'
import { giveWay } from '#thread/give-way.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'

/** Longest run. Merging is quadratic in the length of an unbroken run; at this length it costs microseconds. */
const MAX_RUN = 256

/** Cached runs. A crafted run takes 6 KB: the library's own default would exhaust the thread's memory. */
const REMEMBERED_RUNS = 10_000
setMergeCacheSize(REMEMBERED_RUNS)

const plainText = { disallowedSpecial: new Set<string>() }

function countOf(text: string): TokenCount {
  if (!hasLongRun(text)) return { tokens: countTokens(text, plainText), exact: true }
  let tokens = 0
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_RUN, text.length)
    // Never between the halves of a surrogate pair.
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end -= 1
    tokens += countTokens(text.slice(start, end), plainText)
    start = end
  }
  return { tokens, exact: false }
}

/** Whether letters, punctuation or white space may continue for longer than the tokenizer may merge at once. */
function hasLongRun(text: string): boolean {
  let run = 0
  /** The kinds that every character of the run may be. */
  let kinds = 0
  /** Characters at its end that may be of any kind. */
  let unsure = 0
  for (let index = 0; index < text.length; index += 1) {
    const kind = kindsOf(text.charCodeAt(index))
    const goesOn = (kinds & kind) !== 0
    run = goesOn ? run + 1 : unsure + 1
    kinds = goesOn ? kinds & kind : kind
    unsure = kind === ANY ? unsure + 1 : 0
    if (run > MAX_RUN) return true
  }
  return false
}

const LETTER = 1
const SPACE = 2
const OTHER = 4
const ANY = LETTER | SPACE | OTHER

/** Beyond ASCII there are letters, spaces and signs: not looking closer can only make a run seem longer than it is. */
function kindsOf(unit: number): number {
  if (unit >= 0x80) return ANY
  if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a)) return LETTER
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) ? SPACE : OTHER
}

/** Token ids laid end to end. */
interface PackedIds {
  readonly ids: Float64Array<ArrayBuffer>
  readonly lengths: readonly number[]
}

/** The bytes of each array laid end to end; undefined for an array with an unknown id. */
interface DecodedTokens {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly lengths: readonly (number | undefined)[]
}

/**
 * The bytes of some tokens, or undefined when one is unknown. Several tokens may share a character, so bytes
 * become text once the next ones are known. The library's own `decode` works for single tokens only.
 */
function bytesOf(tokens: Float64Array): Uint8Array | undefined {
  const parts: Uint8Array[] = []
  let text = ''
  for (const token of tokens) {
    const part = ranks[token] ?? specialText(token)
    if (part === undefined) return undefined
    if (typeof part === 'string') {
      text += part
      continue
    }
    if (text !== '') parts.push(Buffer.from(text))
    text = ''
    parts.push(Uint8Array.from(part))
  }
  return Buffer.concat([...parts, Buffer.from(text)])
}

function decoded({ ids, lengths }: PackedIds): DecodedTokens {
  let at = 0
  const parts = lengths.map((length) => bytesOf(ids.subarray(at, (at += length))))
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + (part?.length ?? 0), 0))
  let filled = 0
  for (const part of parts) {
    if (part === undefined) continue
    bytes.set(part, filled)
    filled += part.length
  }
  return { bytes, lengths: parts.map((part) => part?.length) }
}

function specialText(token: number): string | undefined {
  try {
    return decodeIds([token])
  } catch {
    return undefined
  }
}

const works = {
  count: (texts: readonly string[]): TokenCount[] => texts.map(countOf),
  decode(packed: PackedIds, { handOver }: ThreadCall): DecodedTokens {
    const answer = decoded(packed)
    handOver([answer.bytes.buffer])
    return answer
  },
}

export type TokenizerWorks = typeof works
giveWay()
serve(works)
