/** The sizes of the calls of one deployment since they were last read: a few integers per call, because it is on every request's way. */
import { sizeIndex, SIZES, type CallSize } from '#core/embedding/call-size.ts'

export class SeenCalls {
  /** By class of size, like the next two. */
  readonly #tokens = new Float64Array(SIZES)
  readonly #mostInputs = new Int32Array(SIZES)
  readonly #mostTokens = new Int32Array(SIZES)
  #hasAny = false

  /** `inputs`: 0 for a call that has none but texts could be compared with. */
  note(inputs: number, tokens: number): void {
    const index = sizeIndex(inputs, tokens)
    this.#tokens[index] = (this.#tokens[index] as number) + tokens
    if (inputs > (this.#mostInputs[index] as number)) this.#mostInputs[index] = inputs
    if (tokens > (this.#mostTokens[index] as number)) this.#mostTokens[index] = tokens
    this.#hasAny = true
  }

  /** Reads them and starts over. False: there was no call. */
  drain(each: (tokens: number, largest: CallSize | undefined) => void): boolean {
    if (!this.#hasAny) return false
    this.#hasAny = false
    for (let index = 0; index < SIZES; index += 1) {
      const [inputs, tokens] = [this.#mostInputs[index] as number, this.#mostTokens[index] as number]
      const all = this.#tokens[index] as number
      if (inputs === 0 && all === 0) continue
      each(all, inputs === 0 ? undefined : { inputs, tokens })
    }
    this.#tokens.fill(0)
    this.#mostInputs.fill(0)
    this.#mostTokens.fill(0)
    return true
  }
}
