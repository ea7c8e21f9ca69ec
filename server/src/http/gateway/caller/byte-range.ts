/** What a reader requests of stored bytes: a range, or nothing if it has them. */

/** Both ends included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** A list of tags, each perhaps weak, or `*` for any. */
export function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => {
    const plain = tag.trim().replace(/^W\//, '')
    return plain === etag || plain === '*'
  })
}

/** One range of bytes; anything else is answered whole, as the standard allows. */
export function rangeIn(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, start, end] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (start === undefined || end === undefined || (start === '' && end === '')) return undefined
  if (start !== '' && end !== '' && Number(start) > Number(end)) return undefined
  const first = start === '' ? Math.max(0, bytes - Number(end)) : Number(start)
  const last = start === '' || end === '' ? bytes - 1 : Math.min(Number(end), bytes - 1)
  return first > last || first >= bytes ? 'unsatisfiable' : { first, last }
}
