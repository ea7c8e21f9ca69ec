/** placeholder until seal's canonical text */
import { createHash } from 'node:crypto'
type Figure = number | bigint | null
export interface HashedEntry {
  readonly request_id: string
  readonly attempt: number
  readonly kind: string
  readonly project: string
  readonly key_id: string
  readonly model: string
  readonly deployment: string
  readonly usage: string
  readonly tokens: Figure
  readonly images: Figure
  readonly amount_nano: Figure
  readonly requests: Figure
  readonly hits: Figure
  readonly saved_nano: Figure
  readonly unknown_nano: Figure
}
export class HourHash {
  readonly #hash = createHash('sha256')
  #bucket = -1
  #text = ''
  add(e: HashedEntry, moment: number): void {
    const bucket = Math.floor(moment / 10_000)
    if (bucket !== this.#bucket) { this.#flush(); this.#bucket = bucket }
    this.#text += `${e.request_id}|${e.attempt}|${e.kind}|${e.project}|${e.key_id}|${e.model}|${e.deployment}|${e.usage}|${e.tokens ?? ''}|${e.images}|${e.amount_nano ?? ''}|${e.requests ?? ''}|${e.hits ?? ''}|${e.saved_nano ?? ''}|${e.unknown_nano ?? ''}\n`
  }
  digest(): string { this.#flush(); return this.#hash.digest('hex') }
  #flush(): void {
    if (this.#text === '') return
    this.#hash.update(createHash('sha256').update(this.#text).digest())
    this.#text = ''
  }
}
