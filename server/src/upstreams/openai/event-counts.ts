/**
 * The counts of all events of one stream. Whether an event counts its own image or all of them is not
 * documented, and some servers count in one event alone.
 */
import { isRecord } from '#core/text/record.ts'
import { addTokens, areSameTokens, UNKNOWN_TOKENS, type ImageUsage } from '#core/money/usage.ts'
import { tokensIn } from './image-answer.ts'
import type { ImageReply } from './image-reply.ts'

type Tokens = ImageUsage['tokens']

export class EventCounts {
  /** Events that brought an image, or the refusal of one. */
  #events = 0
  /** Events that counted. */
  #counted = 0
  #sum: Tokens = UNKNOWN_TOKENS
  /** The count of each event, if all counted the same. */
  #each: Tokens | undefined
  /** The first `usage` that came. */
  #usage: Readonly<Record<string, unknown>> | undefined

  add(usage: unknown): void {
    this.#events += 1
    const own = tokensIn(usage)
    if (Object.values(own).every((count) => count === undefined)) return
    this.#counted += 1
    const isFirst = this.#counted === 1
    const isSame = isFirst || (this.#each !== undefined && areSameTokens(this.#each, own))
    this.#sum = isFirst ? own : addTokens(this.#sum, own)
    this.#each = isSame ? own : undefined
    if (isFirst && isRecord(usage)) this.#usage = usage
  }

  /**
   * Where every event counts, their sum, or what each repeats. Where one event alone counts, it counts for
   * all. Otherwise unknown: a sum with a missing part must not look like a full count.
   */
  get together(): Pick<ImageReply, 'tokens' | 'eachTokens' | 'usage'> {
    if (this.#counted === 1) {
      const eachTokens = this.#events === 1 ? this.#each : undefined
      return { tokens: this.#sum, eachTokens, usage: this.#usage }
    }
    if (this.#counted < this.#events)
      return { tokens: UNKNOWN_TOKENS, eachTokens: undefined, usage: undefined }
    return { tokens: this.#sum, eachTokens: this.#each, usage: undefined }
  }
}
