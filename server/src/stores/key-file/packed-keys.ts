/** Reads packed keys. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { setImmediate as pause } from 'node:timers/promises'
import { RecentMap } from '#core/structure/recent-map.ts'
import type { DirectoryState, HeldKey, HeldProject, PackedKeys } from '#ports/key-file.ts'
import {
  bodyLength,
  DIGESTS,
  FOOTER_BYTES,
  FORMAT,
  HEAD_BYTES,
  keyIn,
  MAC_BYTES,
  nameIn,
  nameKey,
  NAMES,
  placeIn,
  projectIn,
  UNIT_BYTES,
  validUntilIn,
  type Footer,
  type TermsJson,
} from './layout.ts'
import { RowsInFile, STEP_BYTES, type ReadableBytes } from './sorted-rows.ts'

/** Terms that are kept in the form of objects: they are mostly shared by many keys. */
const MAX_TERMS = 10_000
/** The bytes that are read of a body first: nearly all are shorter. */
const BODY_READ_BYTES = 256

export class PackedKeyBytes implements PackedKeys {
  readonly bytes: ReadableBytes
  readonly footer: Footer
  readonly state: DirectoryState
  /** The end of the file, which nothing but its content determines. */
  readonly mac: Buffer
  readonly #digests: RowsInFile
  readonly #names: RowsInFile
  readonly #terms = new RecentMap<number, TermsJson>(MAX_TERMS)
  readonly #readTerms = (place: number): TermsJson => this.#termsAt(place)
  readonly #scratch = Buffer.allocUnsafeSlow(BODY_READ_BYTES)

  private constructor(
    bytes: ReadableBytes,
    footer: Footer,
    mac: Buffer,
    rows: readonly [RowsInFile, RowsInFile],
  ) {
    this.bytes = bytes
    this.footer = footer
    const { version, mark, verifiedAtMs } = footer
    this.state = { version: BigInt(version), mark, verifiedAtMs }
    this.mac = mac
    ;[this.#digests, this.#names] = rows
  }

  /** Reads everything once, and throws unless one of the keys has signed it. `name`: for people. */
  static async open(
    bytes: ReadableBytes,
    keys: readonly Uint8Array[],
    name: string,
  ): Promise<PackedKeyBytes> {
    const mac = await checkedMac(bytes, keys, name)
    const text = Buffer.alloc(FOOTER_BYTES)
    bytes.read(text, FOOTER_BYTES, bytes.size - MAC_BYTES - FOOTER_BYTES)
    const footer = JSON.parse(text.toString()) as Footer
    if (footer.format !== FORMAT) throw new Error(`${name} has the format '${footer.format}'`)
    const { digestStart, nameStart } = startsIn(footer)
    return new PackedKeyBytes(bytes, footer, mac, [
      await RowsInFile.open(bytes, DIGESTS, digestStart, footer.digests),
      await RowsInFile.open(bytes, NAMES, nameStart, footer.names),
    ])
  }

  get size(): number {
    return this.footer.keys
  }

  find(digest: string): { readonly key: HeldKey; readonly validUntilMs: number | undefined } | undefined {
    return this.#digests.find(Buffer.from(digest, 'base64'), (row) => ({
      key: keyIn(this.#bodyAt(placeIn(row, 0, DIGESTS)), this.#readTerms),
      validUntilMs: validUntilIn(row),
    }))
  }

  keyOfId(id: string): HeldKey | undefined {
    const found = this.placeOf(`key:${id}`)
    return found && keyIn(found.body, this.#readTerms)
  }

  projectOf(name: string): HeldProject | undefined {
    const found = this.placeOf(`project:${name}`)
    return found && projectIn(found.body, this.#readTerms)
  }

  /** `name`: `key:<id>` or `project:<name>`. The body is overwritten by the next look-up. */
  placeOf(name: string): { readonly place: number; readonly body: Buffer } | undefined {
    return this.#names.find(nameKey(name), (row) => {
      const place = placeIn(row, 0, NAMES)
      const body = this.#bodyAt(place)
      return nameIn(body) === name ? { place, body } : undefined
    })
  }

  close(): void {
    this.bytes.close()
  }

  #bodyAt(place: number): Buffer {
    const at = place * UNIT_BYTES
    const first = Math.min(BODY_READ_BYTES, this.footer.bodyBytes - at)
    this.bytes.read(this.#scratch, first, at)
    const length = bodyLength(this.#scratch)
    if (length <= first) return this.#scratch
    const body = Buffer.allocUnsafe(length)
    this.bytes.read(body, length, at)
    return body
  }

  #termsAt(place: number): TermsJson {
    const known = this.#terms.get(place)
    if (known !== undefined) return known
    const at = this.footer.bodyBytes + place * UNIT_BYTES
    const head = Buffer.allocUnsafe(4)
    this.bytes.read(head, head.length, at)
    const text = Buffer.allocUnsafe(head.readUInt32LE(0))
    this.bytes.read(text, text.length, at + head.length)
    const terms = JSON.parse(text.toString()) as TermsJson
    this.#terms.set(place, terms)
    return terms
  }
}

/** Where the rows begin. Bodies are at the start, terms behind them. */
export function startsIn({ bodyBytes, termsBytes, digests }: Footer) {
  const digestStart = bodyBytes + termsBytes
  return { digestStart, nameStart: digestStart + digests * DIGESTS.bytes }
}

async function checkedMac(bytes: ReadableBytes, keys: readonly Uint8Array[], name: string): Promise<Buffer> {
  const signed = bytes.size - MAC_BYTES
  if (signed < HEAD_BYTES) throw new Error(`${name} is cut: it is not used`)
  const hmacs = keys.map((key) => createHmac('sha256', key))
  const step = Buffer.allocUnsafeSlow(STEP_BYTES)
  for (let at = 0; at < signed; at += STEP_BYTES) {
    const length = Math.min(STEP_BYTES, signed - at)
    bytes.read(step, length, at)
    for (const hmac of hmacs) hmac.update(step.subarray(0, length))
    await pause()
  }
  const mac = Buffer.alloc(MAC_BYTES)
  bytes.read(mac, MAC_BYTES, signed)
  if (!hmacs.some((hmac) => timingSafeEqual(hmac.digest(), mac)))
    throw new Error(`${name} was changed, or written by a node with another secret: it is not used`)
  return mac
}
