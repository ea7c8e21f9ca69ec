/** The result of an image call, whichever way it came. */
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { withoutByteOrderMark } from '#core/text/json-text.ts'
import { isRecord } from '#core/text/record.ts'
import { UNKNOWN_TOKENS, type ImageUsage } from '#core/money/usage.ts'
import type { ByteSink, HttpAnswer } from '../connect/http.ts'
import {
  ANSWER_FIELDS,
  echoesIn,
  extraFieldsIn,
  isWithheld,
  svgTokensIn,
  tokensIn,
  type Fields,
} from './image-answer.ts'
import { PictureBytes } from '../connect/picture-bytes.ts'
import { PictureScanner } from './picture-scan.ts'

export interface ReplyPicture {
  readonly source: PictureBytes | { readonly url: string }
  readonly revisedPrompt: string | undefined
}

export interface ImageReply {
  readonly pictures: readonly ReplyPicture[]
  /** Error objects in place of single images. */
  readonly refusals: readonly unknown[]
  /** The error object in place of everything. */
  readonly error: unknown
  readonly tokens: ImageUsage['tokens']
  /** The count of each of several events, if all said the same. */
  readonly eachTokens?: ImageUsage['tokens'] | undefined
  /** As received, where one object covers the whole call. */
  readonly usage?: Fields | undefined
  readonly echoes: Fields
  readonly extraFields: Fields
}

export const NOTHING: ImageReply = {
  pictures: [],
  refusals: [],
  error: undefined,
  tokens: UNKNOWN_TOKENS,
  echoes: {},
  extraFields: {},
}

/** Reads one kind of answer as it arrives. */
export interface ReplyReader extends ByteSink {
  /** After the last byte; throws `BrokenAnswer`. */
  end(): ImageReply
}

/** Ten revised prompts of 32,000 characters, with room. A larger skeleton would take too long to parse in one step. */
export const MAX_SKELETON_BYTES = 1024 * 1024

/** An answer in one JSON document. */
export class JsonReader implements ReplyReader {
  readonly #skeleton: Uint8Array[] = []
  #skeletonBytes = 0
  readonly #scanner: PictureScanner

  constructor(expectedBytes?: number) {
    this.#scanner = new PictureScanner((bytes) => {
      this.#skeletonBytes += bytes.length
      if (this.#skeletonBytes > MAX_SKELETON_BYTES)
        throw new BrokenAnswer('more than 1 MB beside its pictures')
      this.#skeleton.push(bytes)
    }, expectedBytes)
  }

  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
  }

  end(): ImageReply {
    const answer = fieldsOf(Buffer.concat(this.#skeleton).toString('utf8'))
    const { data, error, usage } = answer
    const pictures: ReplyPicture[] = []
    const refusals: unknown[] = []
    if (Array.isArray(data)) {
      let broken: unknown
      for (const item of data as unknown[]) {
        try {
          const picture = pictureIn(item, this.#scanner)
          if (picture === undefined) refusals.push(refusalIn(item))
          else pictures.push(picture)
        } catch (error) {
          broken ??= error
        }
      }
      // Beside good images it counts as missing: the others are paid for, and are passed on.
      if (pictures.length === 0 && broken !== undefined) throw broken
    } else if (!error) throw new BrokenAnswer('an answer without a data array')
    return {
      pictures,
      refusals,
      error: error ?? undefined,
      tokens: { ...tokensIn(usage), ...svgTokensIn(answer['svg_usage']) },
      usage: isRecord(usage) ? usage : undefined,
      echoes: echoesIn(answer),
      extraFields: extraFieldsIn(answer, ANSWER_FIELDS),
    }
  }
}

/** An answer that is the image itself. */
export class RawReader implements ReplyReader {
  readonly #picture = new PictureBytes()

  push(chunk: Uint8Array): void {
    this.#picture.add(chunk)
  }

  end(): ImageReply {
    return { ...NOTHING, pictures: [{ source: withBytes(this.#picture), revisedPrompt: undefined }] }
  }
}

export function fieldsOf(text: string): Fields {
  let parsed: unknown
  try {
    parsed = JSON.parse(withoutByteOrderMark(text))
  } catch {
    throw new BrokenAnswer('an answer that is not JSON')
  }
  if (!isRecord(parsed)) throw new BrokenAnswer('an answer that is not a JSON object')
  return parsed
}

/** Undefined where the entry has no image. */
export function pictureIn(item: unknown, scanner: PictureScanner): ReplyPicture | undefined {
  if (!isRecord(item)) throw new BrokenAnswer('a data item that is not an object')
  const { b64_json: base64, url, revised_prompt: prompt } = item
  const revisedPrompt = typeof prompt === 'string' && prompt !== '' ? prompt : undefined
  if (base64 !== undefined && base64 !== null && base64 !== '') {
    return { source: withBytes(scanner.take(base64)), revisedPrompt }
  }
  if (typeof url === 'number') return { source: withBytes(scanner.take(url)), revisedPrompt }
  if (typeof url === 'string' && url !== '') return { source: { url }, revisedPrompt }
  if (item['error'] || isWithheld(item)) return undefined
  throw new BrokenAnswer('an empty picture')
}

/** An upstream that only says that it withholds the image has given its reason. */
export function refusalIn(item: unknown): unknown {
  const error = isRecord(item) ? item['error'] : undefined
  return error || { message: 'the picture was withheld by its safety filter.', code: 'content_filter' }
}

function withBytes(picture: PictureBytes): PictureBytes {
  if (picture.size === 0) throw new BrokenAnswer('an empty picture')
  return picture
}

/** `image/png; charset=binary` → `image/png`. */
export function contentTypeIn(headers: HttpAnswer['headers']): string {
  const type = headers['content-type']
  return (typeof type === 'string' ? type : '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}
