/** Runs in a worker thread: byte-pair encoding, made linear by cutting runs that hold no boundary. */
import { parentPort } from 'node:worker_threads'
import { countTokens, decode as decodeIds } from 'gpt-tokenizer/encoding/cl100k_base'
import type { TokenCount } from '#ports/tokens.ts'

export type TokenizerRequest =
  | { readonly id: number; readonly kind: 'count'; readonly texts: readonly string[] }
  | { readonly id: number; readonly kind: 'decode'; readonly tokens: readonly (readonly number[])[] }

export type TokenizerReply =
  | { readonly id: number; readonly counts: TokenCount[] }
  | { readonly id: number; readonly texts: (string | undefined)[] }
  | { readonly id: number; readonly error: string }

/** Merging is quadratic in the length of an unbroken run; at this length it costs microseconds. */
const MAX_RUN = 256

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

/** Whether letters, punctuation or white space go on for longer than we let the tokenizer merge in one piece. */
function hasLongRun(text: string): boolean {
  let run = 0
  let runKind = -1
  for (let index = 0; index < text.length; index += 1) {
    const kind = kindOf(text.charCodeAt(index))
    run = kind === runKind ? run + 1 : 1
    runKind = kind
    if (run > MAX_RUN) return true
  }
  return false
}

const LETTER = 0
const SPACE = 1
const OTHER = 2

/** Everything beyond ASCII counts as a letter: that can only make a run seem longer than it is. */
function kindOf(unit: number): number {
  if (unit >= 0x80 || (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a)) return LETTER
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) ? SPACE : OTHER
}

function decode(tokens: readonly number[]): string | undefined {
  try {
    return decodeIds(tokens)
  } catch {
    return undefined
  }
}

parentPort?.on('message', (request: TokenizerRequest) => {
  const reply = (message: TokenizerReply): void => parentPort?.postMessage(message)
  try {
    if (request.kind === 'count') reply({ id: request.id, counts: request.texts.map(countOf) })
    else reply({ id: request.id, texts: request.tokens.map(decode) })
  } catch (error) {
    reply({ id: request.id, error: String(error) })
  }
})
