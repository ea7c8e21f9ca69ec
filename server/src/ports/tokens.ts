import type { Tokenizer } from '#core/catalog/catalog.ts'
import type { TokenIds } from '#core/embedding/input.ts'
import type { Asker } from './asker.ts'

/** A count, and whether it is the tokenizer's own. It is not when the text was cut into steps, or counting stopped. */
export interface TokenCount {
  /** Never below the true count, unless counting stopped: then it is above `most`. */
  readonly tokens: number
  readonly exact: boolean
}

export interface CountAsker extends Asker {
  /** Counting a text may stop beyond this many tokens. */
  readonly most: number
}

/**
 * Tokens of texts and texts of tokens. Byte-pair encoding is quadratic in the length of an unbroken run, so an
 * implementation works off the event loop and cuts long runs: no text may cost more than time linear in its length. It
 * works in short steps, between which other projects have their turns, and rejects with `ThreadBusy` when the asker's
 * deadline has passed.
 */
export interface TokenCounter {
  /** One count per text. */
  count(texts: readonly string[], tokenizer: KnownTokenizer, asker: CountAsker): Promise<TokenCount[]>
  /** One text per token array; undefined for an array that holds an id the tokenizer does not know. */
  decode(
    tokens: readonly TokenIds[],
    tokenizer: KnownTokenizer,
    asker: Asker,
  ): Promise<(string | undefined)[]>
}

export type KnownTokenizer = Exclude<Tokenizer, 'none'>
