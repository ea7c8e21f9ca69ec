/** Writes an image answer: OpenAI's shape, pictures as base64 in steps that leave the event loop free, or as our own links. */
import { asciiJson } from '#core/json-text.ts'
import type { ServerResponse } from 'node:http'
import { assetIdOf, provenanceOfPictures } from '#core/image/delivery.ts'
import type { ImageResult, ResultPicture } from '#core/image/delivery.ts'
import { mediaTypeOf, type PictureFormat } from '#core/image/header.ts'
import type { RateState } from '#core/limit.ts'
import { UNKNOWN_TOKENS } from '#core/usage.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { blobsOfBatch } from '#request/images/batch-blobs.ts'
import { rateHeaders } from '../../rate-headers.ts'
import { drained, headerText, writePieces } from '../caller/writing.ts'
import { base64Slices, handedOut, openPicture, type InMemory } from './picture-source.ts'

export interface AnswerOutside {
  readonly blobs: BlobStore
  readonly yieldLoop: () => Promise<unknown>
  /** The signed link of an asset, good until then, in Unix milliseconds; undefined: as long as links are. */
  readonly linkOf: (assetId: string, untilMs?: number) => string
}

export interface ImageMeta extends InMemory {
  readonly requestId: string
  readonly jobId: string
  readonly rates: readonly RateState[]
  /** The value of `server-timing`; undefined: the header is left out. */
  readonly timing: string | undefined
  /** The value of `x-torana-model-ends`; undefined: the header is left out. */
  readonly ends: string | undefined
}

type PictureOrigin = Pick<ImageMeta, 'jobId' | keyof InMemory>

/** Resolves to how many bytes were written. */
export async function writeImages(
  response: ServerResponse,
  result: ImageResult,
  meta: ImageMeta,
  outside: AnswerOutside,
): Promise<number> {
  const body = imageBody(result, meta, outside)
  // The first piece opens the first picture: what goes wrong there is told as a fault.
  const first = await body.next()
  response.writeHead(200, imageHeaders(result, meta))
  const begin = first.value ?? ''
  if (!response.write(begin, 'latin1')) await drained(response)
  const bytes = begin.length + (await writePieces(response, body))
  if (!response.destroyed) response.end()
  return bytes
}

/** The JSON text of an answer, in pieces. */
export async function* imageBody(
  result: ImageResult,
  from: PictureOrigin,
  outside: AnswerOutside,
): AsyncGenerator<string, undefined> {
  // Joined to the first piece of the picture that it stands before, which comes when the picture is open.
  let before = `{"created":${result.createdSeconds},"data":[{`
  for (const picture of result.pictures) {
    for await (const piece of pictureFields(picture, result, from, outside)) {
      yield before + piece
      before = ''
    }
    if (picture.revisedPrompt !== undefined) yield `,"revised_prompt":${asciiJson(picture.revisedPrompt)}`
    before = '},{'
  }
  let rest = '}]'
  for (const [name, value] of Object.entries({ ...result.extraFields, ...echoesOf(result) }))
    rest += `,${asciiJson(name)}:${asciiJson(value)}`
  const usage = usageOf(result)
  if (usage !== undefined) rest += `,"usage":${JSON.stringify(usage)}`
  yield `${rest}}`
  return undefined
}

/** `"b64_json":"…"` or `"url":"…"`, in pieces. */
export async function* pictureFields(
  picture: ResultPicture,
  { form, batchId }: ImageResult,
  { jobId, ...inMemory }: PictureOrigin,
  { blobs, linkOf, yieldLoop }: AnswerOutside,
): AsyncGenerator<string, undefined> {
  const handed = handedOut(picture)
  // What could be stored nowhere has no address but itself.
  const isStored = !inMemory.held.has(handed.sha256)
  if (form === 'url' && isStored) {
    yield `"url":${asciiJson(linkOf(assetIdOf(jobId, picture, batchId)))}`
    return
  }
  const bytes = await openPicture(handed, inMemory, blobsOfBatch(batchId, blobs))
  yield form === 'url' ? `"url":"data:${mediaTypeOf(handed.format as PictureFormat)};base64,` : '"b64_json":"'
  yield* base64Slices(bytes, yieldLoop)
  yield '"'
  return undefined
}

/** What the upstream resolved, put right where Torana converted, and where the pictures are something else than was asked for. */
export function echoesOf({ echoes, pictures, differs }: ImageResult): Readonly<Record<string, unknown>> {
  const formats = new Set(
    pictures.flatMap(({ converted }) => (converted === undefined ? [] : [converted.format])),
  )
  const [format] = formats
  const converted = format === undefined ? {} : { output_format: format }
  // Where pictures differ among themselves, no one value is true of the answer.
  const different = Object.entries(differs ?? {}).filter(([, value]) => !value.includes(','))
  return { ...echoes, ...converted, ...Object.fromEntries(different) }
}

/** As the upstream wrote it, where one call made everything. Undefined when it counted nothing: then nothing is claimed. */
function usageOf({ tokens, reported }: ImageResult): object | undefined {
  const { textInput, imageOutput } = tokens
  if (textInput === undefined && imageOutput === undefined) return undefined
  return reported ?? usageOfTokens(tokens)
}

/** A part that nobody counted is left out, unless OpenAI's shape needs it. */
function usageOfTokens(tokens: ImageResult['tokens']): object {
  const { textInput, imageInput, textOutput, imageOutput } = tokens
  const input = (textInput ?? 0) + (imageInput ?? 0)
  const output = (textOutput ?? 0) + (imageOutput ?? 0)
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: textInput ?? 0, image_tokens: imageInput ?? 0 },
    ...(textOutput === undefined
      ? {}
      : { output_tokens_details: { text_tokens: textOutput, image_tokens: imageOutput ?? 0 } }),
  }
}

/** What an event must have, whoever counted: SDKs that check OpenAI's schema refuse an event without it. */
const EVENT_USAGE = ['total_tokens', 'input_tokens', 'output_tokens', 'input_tokens_details'] as const

/** Of the event that tells what was used. Zeros where the upstream counted nothing. */
export function eventUsageOf(result: ImageResult): object {
  const usage = usageOf(result)
  const isWhole = usage !== undefined && EVENT_USAGE.every((field) => field in usage)
  return isWhole ? usage : usageOfTokens(result.tokens)
}

/** Of the other events of the same answer: a client that adds them up, or takes the last one, gets the total. */
export const NO_USAGE = usageOfTokens(UNKNOWN_TOKENS)

/** `output_format=jpeg, size=512x512`. */
function differenceText(differs: NonNullable<ImageResult['differs']>): string {
  return Object.entries(differs)
    .map(([name, value]) => `${name}=${value.replaceAll(', ', '|')}`)
    .join(', ')
}

export function imageHeaders(
  result: ImageResult,
  meta: ImageMeta,
  type = 'application/json; charset=utf-8',
): string[] {
  const {
    deployments,
    attempts,
    costUsd,
    costBy,
    usage,
    emulated,
    dropped,
    pictures,
    asked,
    differs,
    extra = [],
  } = result
  const headers = ['content-type', type, 'x-request-id', meta.requestId, 'x-torana-job', meta.jobId]
  headers.push(
    'x-torana-deployment',
    headerText(deployments.join(', ')),
    'x-torana-attempts',
    String(attempts),
  )
  headers.push('x-torana-cost', costUsd, 'x-torana-usage', usage)
  if (costBy !== undefined) headers.push('x-torana-cost-by', costBy)
  if (meta.timing !== undefined) headers.push('server-timing', meta.timing)
  if (meta.ends !== undefined) headers.push('x-torana-model-ends', headerText(meta.ends))
  if (meta.rates.length > 0) headers.push(...rateHeaders(meta.rates))
  if (emulated.length > 0) headers.push('x-torana-emulated', headerText(emulated.join(', ')))
  if (dropped.length > 0) headers.push('x-torana-dropped', headerText(dropped.join(', ')))
  if (pictures.length < asked) headers.push('x-torana-incomplete', `${pictures.length} of ${asked}`)
  if (differs !== undefined) headers.push('x-torana-differs', headerText(differenceText(differs)))
  if (extra.length > 0) headers.push('x-torana-extra', String(extra.length))
  const provenance = provenanceOfPictures(pictures)
  if (provenance !== undefined) headers.push('x-torana-provenance', provenance)
  return headers
}
