/** Runs in a worker thread: parses large request bodies and packs token ids, so that transferring them costs nothing. */
import { inputFields, liftImages, liftMedia, type Lifted } from '#core/media/lift.ts'
import { boundsOf, type JsonBounds } from '#core/text/json-bounds.ts'
import { isRecord } from '#core/text/record.ts'
import { JsonRefused, JsonTooLong } from '#ports/json.ts'
import { giveWay } from '#thread/give-way.ts'
import { serve, type ThreadCall } from '#thread/serve.ts'
import { parsedText, type JsonText } from './json-text.ts'

/** Why a body was not read. */
export interface UnreadJson {
  readonly position: string | undefined
  readonly refusal: string | undefined
  readonly isTooLong: boolean
}

interface BoundedJson {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly bounds: JsonBounds
}

/** Token arrays laid end to end; `lengths` is undefined for one flat array. */
export interface PackedTokens {
  readonly ids: Uint32Array<ArrayBuffer>
  readonly lengths: Uint32Array<ArrayBuffer> | undefined
}

function pack(input: unknown): PackedTokens | undefined {
  // An empty list is neither form, and the check of `input` has words for it.
  if (!Array.isArray(input) || input.length === 0) return undefined
  if (input.every(isTokenId)) return { ids: Uint32Array.from(input), lengths: undefined }
  if (!input.every((entry) => Array.isArray(entry) && entry.every(isTokenId))) return undefined
  const arrays = input as number[][]
  const ids = new Uint32Array(arrays.reduce((sum, entry) => sum + entry.length, 0))
  let at = 0
  for (const entry of arrays) {
    ids.set(entry, at)
    at += entry.length
  }
  return { ids, lengths: Uint32Array.from(arrays, (entry) => entry.length) }
}

function isTokenId(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0x7f_ff_ff_ff
}

interface ReadBody extends JsonText {
  readonly packed: PackedTokens | undefined
  readonly media: Omit<Lifted, 'value'> | undefined
}

function parsed(bytes: Buffer, bounds: JsonBounds): ReadBody {
  const { value, exactTexts } = parsedText(bytes, bounds, inputFields(bounds))
  const packed = isRecord(value) ? pack(value['input']) : undefined
  if (packed) (value as Record<string, unknown>)['input'] = undefined
  // The scan did not count them, since a million of them may be packed.
  else if (isRecord(value) && numbersIn(value['input']) > bounds.maxValues)
    throw new JsonRefused(`Its input has more than ${bounds.maxValues} numbers that are not all token ids.`)
  const lifted = bounds.contents && liftMedia(value, bytes.length, bounds.contents)
  const media = lifted && { files: lifted.files, characters: lifted.characters }
  return { value, packed, exactTexts: isRecord(value) ? exactTexts : undefined, media }
}

const EDIT_BOUNDS = boundsOf(undefined)
/** Fields of an edit that contain files. Their base64 looks like numbers. */
const EDIT_FIELDS: ReadonlySet<string> = new Set(['images', 'mask', 'markup'])

function parsedEdit(bytes: Buffer): JsonText & Lifted {
  const { value, exactTexts } = parsedText(bytes, EDIT_BOUNDS, EDIT_FIELDS)
  return { ...liftImages(value), exactTexts }
}

function numbersIn(value: unknown): number {
  if (typeof value === 'number') return 1
  if (!Array.isArray(value) && !isRecord(value)) return 0
  let numbers = 0
  for (const entry of Object.values(value)) numbers += numbersIn(entry)
  return numbers
}

function readBy<Read>(read: (bytes: Buffer) => Read, bytes: Uint8Array<ArrayBuffer>): Read | UnreadJson {
  try {
    return read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const position = /position (\d+)/.exec(String(error))?.[1]
    const refusal = error instanceof JsonRefused ? error.message : undefined
    return { position, refusal, isTooLong: error instanceof JsonTooLong }
  } finally {
    // The garbage collector may take long, and a body may have 64 MB.
    bytes.buffer.transfer(0)
  }
}

const works = {
  parse({ bytes, bounds }: BoundedJson, { handOver }: ThreadCall) {
    const answer = readBy((body) => parsed(body, bounds), bytes)
    const { ids, lengths } = ('packed' in answer && answer.packed) || {}
    const files = 'media' in answer ? buffersOf(answer.media?.files ?? []) : []
    handOver([...[ids, lengths].flatMap((numbers) => (numbers ? [numbers.buffer] : [])), ...files])
    return answer
  },
  parseWithFiles(bytes: Uint8Array<ArrayBuffer>, { handOver }: ThreadCall) {
    const answer = readBy(parsedEdit, bytes)
    if ('files' in answer) handOver(buffersOf(answer.files))
    return answer
  },
}

function buffersOf(files: Lifted['files']): ArrayBuffer[] {
  return files.flatMap(({ bytes }) => (bytes ? [bytes.buffer] : []))
}

export type JsonWorks = typeof works
giveWay()
serve(works)
