/** Writes packed keys: all of a store, or those of a file with later changes. */
import { createHmac, type Hmac } from 'node:crypto'
import { RecentMap } from '#core/structure/recent-map.ts'
import type { DirectoryChanges, DirectoryPages, DirectoryState, HeldProject } from '#ports/key-file.ts'
import type { KeyRecord } from '#ports/key-store.ts'
import {
  bodyLength,
  DIGESTS,
  digestRow,
  footerBytes,
  FORMAT,
  keyBody,
  nameRow,
  NAMES,
  placeIn,
  projectBody,
  setPlace,
  termsBytes,
  termsText,
  UNIT_BYTES,
  type RowForm,
} from './layout.ts'
import { startsIn, type PackedKeyBytes } from './packed-keys.ts'
import { CollectedRows, STEP_BYTES } from './sorted-rows.ts'

/** Terms whose place is remembered. A store in which every key has its own is packed without sharing. */
const MAX_TERMS = 10_000

export type Write = (bytes: Buffer) => Promise<void>

/** Packs every record of the pages. */
export async function packAll(
  write: Write,
  key: Uint8Array,
  state: DirectoryState,
  pages: DirectoryPages,
): Promise<void> {
  const output = new Output(write, key)
  const bodies = new Bodies(0, 0)
  for await (const projects of pages.projects()) {
    for (const project of projects) bodies.addProject(project)
    await output.put(...bodies.take())
  }
  for await (const keys of pages.keys()) {
    for (const one of keys) bodies.addKey(one)
    await output.put(...bodies.take())
  }
  const bodyBytes = output.written
  await output.put(...bodies.takeTerms())
  const sizes = { bodyBytes, termsBytes: output.written - bodyBytes, keys: bodies.keys }
  await output.put(await bodies.digests.sorted())
  await output.put(await bodies.names.sorted())
  await output.end(state, { ...sizes, digests: bodies.digests.count, names: bodies.names.count })
}

/** Packs what a file holds, with later changes. */
export async function packChanged(
  write: Write,
  key: Uint8Array,
  state: DirectoryState,
  { packed, changes }: { readonly packed: PackedKeyBytes; readonly changes: DirectoryChanges },
): Promise<void> {
  const output = new Output(write, key)
  const [projects, keys] = [[...changes.projects], [...changes.keys]]
  const names = [...projects.map(({ name }) => `project:${name}`), ...keys.map(({ id }) => `key:${id}`)]
  const gaps = new Gaps(packed, names)
  const goneKeys = keys.filter(({ id }) => packed.placeOf(`key:${id}`) !== undefined).length
  for (const [from, to] of gaps.between()) await output.copy(packed, from, to)
  const { footer } = packed
  const bodies = new Bodies(output.written, footer.termsBytes)
  for (const project of projects) bodies.addProject(project)
  for (const one of keys) if (one.revokedAtMs === undefined) bodies.addKey(one)
  await output.put(...bodies.take())
  const bodyBytes = output.written
  await output.copy(packed, footer.bodyBytes, footer.bodyBytes + footer.termsBytes)
  await output.put(...bodies.takeTerms())
  const termsEnd = output.written
  const { digestStart, nameStart } = startsIn(footer)
  const merge = (form: RowForm, start: number, rows: number, added: Buffer): Promise<number> =>
    output.merge({ packed, form, start, rows, added, movedPlace: (place) => gaps.movedPlace(place) })
  const digests = await merge(DIGESTS, digestStart, footer.digests, await bodies.digests.sorted())
  const nameCount = await merge(NAMES, nameStart, footer.names, await bodies.names.sorted())
  await output.end(state, {
    bodyBytes,
    termsBytes: termsEnd - bodyBytes,
    digests,
    names: nameCount,
    keys: footer.keys - goneKeys + bodies.keys,
  })
}

/** Bodies, terms and rows that are added to a file. */
class Bodies {
  readonly digests = new CollectedRows(DIGESTS)
  readonly names = new CollectedRows(NAMES)
  keys = 0
  /** Bytes of the part so far. */
  #bodyBytes: number
  #termsBytes: number
  #taken: Buffer[] = []
  readonly #terms: Buffer[] = []
  readonly #placesOfTerms = new RecentMap<string, number>(MAX_TERMS)

  constructor(bodyBytes: number, ofTerms: number) {
    this.#bodyBytes = bodyBytes
    this.#termsBytes = ofTerms
  }

  addProject(project: HeldProject): void {
    const { limits, budget } = project
    const place = this.#add(projectBody(project, this.#placeOfTerms({ limits, budget })))
    this.names.add(nameRow(`project:${project.name}`, place))
  }

  addKey(key: KeyRecord): void {
    const place = this.#add(keyBody(key, this.#placeOfTerms(key)))
    this.names.add(nameRow(`key:${key.id}`, place))
    for (const secret of key.secrets) this.digests.add(digestRow(secret, place))
    this.keys += 1
  }

  /** What was added since the last call. */
  take(): readonly Buffer[] {
    const taken = this.#taken
    this.#taken = []
    return taken
  }

  takeTerms(): readonly Buffer[] {
    return this.#terms
  }

  #add(body: Buffer): number {
    const place = this.#bodyBytes / UNIT_BYTES
    this.#taken.push(body)
    this.#bodyBytes += body.length
    return place
  }

  #placeOfTerms(terms: Parameters<typeof termsText>[0]): number | undefined {
    const text = termsText(terms)
    if (text === undefined) return undefined
    const known = this.#placesOfTerms.get(text)
    if (known !== undefined) return known
    const bytes = termsBytes(text)
    const place = this.#termsBytes / UNIT_BYTES
    this.#terms.push(bytes)
    this.#termsBytes += bytes.length
    this.#placesOfTerms.set(text, place)
    return place
  }
}

/** The bodies of a file that changes replace, and by how much the others move when these are left out. */
class Gaps {
  readonly #bodyBytes: number
  readonly #places: Float64Array
  /** Units left out up to and with the gap. */
  readonly #leftOut: Float64Array

  constructor(packed: PackedKeyBytes, names: readonly string[]) {
    this.#bodyBytes = packed.footer.bodyBytes
    const found = names.flatMap((name) => {
      const one = packed.placeOf(name)
      return one === undefined ? [] : [{ place: one.place, units: bodyLength(one.body) / UNIT_BYTES }]
    })
    found.sort((left, right) => left.place - right.place)
    this.#places = Float64Array.from(found, ({ place }) => place)
    let sum = 0
    this.#leftOut = Float64Array.from(found, ({ units }) => (sum += units))
  }

  /** The bytes that stay: from, to. */
  *between(): Generator<readonly [number, number]> {
    let from = 0
    let before = 0
    for (const [index, place] of this.#places.entries()) {
      yield [from, place * UNIT_BYTES]
      const leftOut = this.#leftOut[index] as number
      from = (place + leftOut - before) * UNIT_BYTES
      before = leftOut
    }
    yield [from, this.#bodyBytes]
  }

  /** Undefined: it is left out. */
  movedPlace(place: number): number | undefined {
    let [low, high] = [0, this.#places.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#places[middle] as number) <= place) low = middle + 1
      else high = middle
    }
    if (low === 0) return place
    return this.#places[low - 1] === place ? undefined : place - (this.#leftOut[low - 1] as number)
  }
}

interface Merge {
  readonly packed: PackedKeyBytes
  readonly form: RowForm
  readonly start: number
  readonly rows: number
  /** Sorted. */
  readonly added: Buffer
  readonly movedPlace: (place: number) => number | undefined
}

/** Bytes in their order, with their signature. */
class Output {
  readonly #write: Write
  readonly #hmac: Hmac
  written = 0

  constructor(write: Write, key: Uint8Array) {
    this.#write = write
    this.#hmac = createHmac('sha256', key)
  }

  /** In steps, so that others get the event loop. */
  async put(...parts: readonly Buffer[]): Promise<void> {
    let step: Buffer[] = []
    let bytes = 0
    for (const part of parts) {
      for (let at = 0; at < part.length; at += STEP_BYTES) {
        const piece = part.subarray(at, at + STEP_BYTES)
        step.push(piece)
        bytes += piece.length
        if (bytes < STEP_BYTES) continue
        await this.#putStep(step)
        step = []
        bytes = 0
      }
    }
    await this.#putStep(step)
  }

  async #putStep(parts: readonly Buffer[]): Promise<void> {
    if (parts.length === 0) return
    const bytes = Buffer.concat(parts)
    this.#hmac.update(bytes)
    this.written += bytes.length
    await this.#write(bytes)
  }

  async copy({ bytes }: PackedKeyBytes, from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += STEP_BYTES) {
      const step = Buffer.allocUnsafe(Math.min(STEP_BYTES, to - at))
      bytes.read(step, step.length, at)
      await this.put(step)
    }
  }

  /** Returns the number of rows. */
  async merge({ packed, form, start, rows, added, movedPlace }: Merge): Promise<number> {
    const before = this.written
    const stepBytes = STEP_BYTES - (STEP_BYTES % form.bytes)
    let next = 0
    for (let done = 0; done < rows * form.bytes; done += stepBytes) {
      const length = Math.min(stepBytes, rows * form.bytes - done)
      const step = Buffer.allocUnsafe(length)
      packed.bytes.read(step, length, start + done)
      const parts: Buffer[] = []
      // The start of the rows that stay in one piece.
      let piece = 0
      for (let at = 0; at < length; at += form.bytes) {
        const place = movedPlace(placeIn(step, at, form))
        const earlier = next
        if (place !== undefined) {
          setPlace(step, at, form, place)
          while (
            next < added.length &&
            added.compare(step, at, at + form.keyBytes, next, next + form.keyBytes) <= 0
          )
            next += form.bytes
          if (next === earlier) continue
        }
        parts.push(step.subarray(piece, at), added.subarray(earlier, next))
        piece = place === undefined ? at + form.bytes : at
      }
      parts.push(step.subarray(piece, length))
      await this.put(...parts)
    }
    await this.put(added.subarray(next))
    return (this.written - before) / form.bytes
  }

  async end(
    { version, mark, verifiedAtMs }: DirectoryState,
    sizes: {
      readonly bodyBytes: number
      readonly termsBytes: number
      readonly digests: number
      readonly names: number
      readonly keys: number
    },
  ): Promise<void> {
    await this.put(footerBytes({ format: FORMAT, version: String(version), mark, verifiedAtMs, ...sizes }))
    await this.#write(this.#hmac.digest())
  }
}
