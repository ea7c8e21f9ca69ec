/** The names that a blob may have in every store: none that leads out of a folder, and none that a server would rewrite. */

/** File systems allow 255 bytes per segment, S3 allows 1,024 per name: this leaves room for a prefix. */
const MAX_SEGMENT_LENGTH = 255
const MAX_NAME_LENGTH = 768

export function isBlobName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && name.split('/').every(isSegment)
}

export function isSegment(text: string): boolean {
  return /^[A-Za-z0-9._=-]+$/.test(text) && text !== '.' && text !== '..' && text.length <= MAX_SEGMENT_LENGTH
}

export function checkName(name: string): void {
  if (!isBlobName(name)) throw new TypeError(`not the name of a blob: ${shown(name)}`)
}

export interface ListOptions {
  readonly prefix: string
  readonly after?: string | undefined
  readonly limit: number
}

export function checkListOptions({ prefix, after, limit }: ListOptions): void {
  if (!/^[A-Za-z0-9._=/-]*$/.test(prefix)) throw new TypeError(`not the prefix of a name: ${shown(prefix)}`)
  if (after !== undefined) checkName(after)
  if (!Number.isSafeInteger(limit) || limit < 0) throw new RangeError(`not a limit: ${limit}`)
}

export interface ByteRange {
  readonly first: number
  readonly last: number
}

export function checkRange({ first, last }: ByteRange, size = Number.MAX_SAFE_INTEGER): void {
  const isWhole = Number.isSafeInteger(first) && Number.isSafeInteger(last)
  if (!isWhole || first < 0 || last < first || last >= size)
    throw new RangeError(`bytes ${first} to ${last} do not lie within a blob of ${size}`)
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
