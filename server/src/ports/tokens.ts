import type { Tokenizer } from '#core/catalog.ts'
import type { TokenIds } from '#core/embedding/input.ts'

/** A count, and whether it is the tokenizer's own or one taken over a text cut into pieces (never below the true count). */
export interface TokenCount {
  readonly tokens: number
  readonly exact: boolean
}

/**
 * Tokens of texts and texts of tokens. Byte-pair encoding is quadratic in the length of an unbroken run, so an
 * implementation works away from the event loop and cuts long runs: no text may cost more than time linear in its length.
 */
export interface TokenCounter {
  /** One count per text. */
  count(texts: readonly string[], tokenizer: Exclude<Tokenizer, 'none'>): Promise<TokenCount[]>
  /** One text per token array; undefined for an array that holds an id the tokenizer does not know. */
  decode(tokens: readonly TokenIds[], tokenizer: Exclude<Tokenizer, 'none'>): Promise<(string | undefined)[]>
}
