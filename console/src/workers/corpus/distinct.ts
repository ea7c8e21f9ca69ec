/** Counts texts that repeat, by their hashes: 53 bits are enough that a million different texts count as different. */

const FIRST_SLOTS = 1024
/** A table that is fuller than this takes longer to search than it saves. */
const MAX_LOAD = 0.5

export class DistinctTexts {
  #slots = new Float64Array(FIRST_SLOTS)
  #used = 0
  repeated = 0

  get size(): number {
    return this.#used
  }

  add(text: string): void {
    if (this.#used >= this.#slots.length * MAX_LOAD) this.#grow()
    if (insert(this.#slots, hashOf(text))) this.#used += 1
    else this.repeated += 1
  }

  #grow(): void {
    const larger = new Float64Array(this.#slots.length * 2)
    for (const hash of this.#slots) if (hash !== 0) insert(larger, hash)
    this.#slots = larger
  }
}

/** False when it was there. 0 marks a free slot. */
function insert(slots: Float64Array, hash: number): boolean {
  for (let at = hash % slots.length; ; at = (at + 1) % slots.length) {
    if (slots[at] === hash) return false
    if (slots[at] !== 0) continue
    slots[at] = hash
    return true
  }
}

/** From 1 to 2^53 - 1: two lanes that mix each character with different odd factors. */
function hashOf(text: string): number {
  let [high, low] = [0x2545_f491, 0x9e37_79b9]
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 0x85eb_ca6b)
    low = Math.imul(low ^ (unit + at), 0xc2b2_ae35)
    high ^= low >>> 15
    low ^= high >>> 13
  }
  return 1 + ((high >>> 11) * 2 ** 32 + (low >>> 0))
}
