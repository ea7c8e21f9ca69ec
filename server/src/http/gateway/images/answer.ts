/** Writes an image answer: OpenAI's shape, images as base64 in steps that leave the event loop free, or as our own links. */
import { asciiJson } from '#core/text/json-text.ts'
import type { ServerResponse } from 'node:http'
import { assetIdOf, provenanceOfPictures } from '#core/image/delivery.ts'
import type { ImageResult, ResultPicture } from '#core/image/delivery.ts'
import { mediaTypeOf, type PictureFormat } from '#core/image/header.ts'
import type { RateState } from '#core/limits/limit.ts'
import { UNKNOWN_TOKENS } from '#core/money/usage.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { blobsOfBatch } from '#request/images/batch-blobs.ts'
import { rateHeaders } from '../../rate-headers.ts'
import { drained, headerText, writeParts } from '../caller/writing.ts'
import { base64Parts, handedOut, openPicture, type InMemory } from './picture-source.ts'

export interface AnswerOutside {
  readonly blobs: BlobStore
  readonly yieldLoop: () => Promise<unknown>
  /** The signed link of an asset, valid until `untilMs` (Unix milliseconds) or, if left out, for the usual time. */
  readonly linkOf: (assetId: string, untilMs?: number) => string
}

export interface ImageMeta extends InMemory {
  readonly requestId: string
  readonly jobId: string
  readonly rates: readonly RateState[]
  /** The value of `server-timing`; undefined if the header is left out. */
  readonly timing: string | undefined
  /** The value of `x-torana-model-ends`; undefined if the header is left out. */
  readonly ends: string | undefined
}

type PictureOrigin = Pick<ImageMeta, 'jobId' | keyof InMemory>

/** Resolves to the number of bytes written. */
export async function writeImages(
  response: ServerResponse,
  result: ImageResult,
  meta: ImageMeta,
  outside: AnswerOutside,
): Promise<number> {
  const body = imageBody(result, meta, outside)
  // The first part opens the first image: a failure there is still a fault.
  const first = await body.next()
  response.writeHead(200, imageHeaders(result, meta))
  const begin = first.value ?? ''
  if (!response.write(begin, 'latin1')) await drained(response)
  const bytes = begin.length + (await writeParts(response, body))
  if (!response.destroyed) response.end()
  return bytes
}

/** The JSON text of an answer, in parts. */
export async function* imageBody(
  result: ImageResult,
  from: PictureOrigin,
  outside: AnswerOutside,
): AsyncGenerator<string, undefined> {
  // Sent with the first part of the next image, which comes when that image is open.
  let before = `{"created":${result.createdSeconds},"data":[{`
  for (const picture of result.pictures) {
    for await (const part of pictureFields(picture, result, from, outside)) {
      yield before + part
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

/** `"b64_json":"…"` or `"url":"…"`, in parts. */
export async function* pictureFields(
  picture: ResultPicture,
  { form, batchId }: ImageResult,
  { jobId, ...inMemory }: PictureOrigin,
  { blobs, linkOf, yieldLoop }: AnswerOutside,
): AsyncGenerator<string, undefined> {
  const handed = handedOut(picture)
  // An image that could not be stored has no address but its own bytes.
  const isStored = !inMemory.held.has(handed.sha256)
  if (form === 'url' && isStored) {
    yield `"url":${asciiJson(linkOf(assetIdOf(jobId, picture, batchId)))}`
    return
  }
  const bytes = await openPicture(handed, inMemory, blobsOfBatch(batchId, blobs))
  yield form === 'url' ? `"url":"data:${mediaTypeOf(handed.format as PictureFormat)};base64,` : '"b64_json":"'
  yield* base64Parts(bytes, yieldLoop)
  yield '"'
  return undefined
}

/** What the upstream resolved, corrected where Torana converted images, or where they differ from the request. */
export function echoesOf({ echoes, pictures, differs }: ImageResult): Readonly<Record<string, unknown>> {
  const formats = new Set(
    pictures.flatMap(({ converted }) => (converted === undefined ? [] : [converted.format])),
  )
  const [format] = formats
  const converted = format === undefined ? {} : { output_format: format }
  // Where images differ among themselves, no single value is true of the answer.
  const different = Object.entries(differs ?? {}).filter(([, value]) => !value.includes(','))
  return { ...echoes, ...converted, ...Object.fromEntries(different) }
}

/** As the upstream wrote it, where one call made everything. Undefined when the upstream counted nothing. */
function usageOf({ tokens, reported }: ImageResult): object | undefined {
  const { textInput, imageOutput } = tokens
  if (textInput === undefined && imageOutput === undefined) return undefined
  return reported ?? usageOfTokens(tokens)
}

/** A figure that the upstream did not count is left out, unless OpenAI's shape needs it. */
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

/** Fields that an event must have: SDKs that check OpenAI's schema refuse an event without them. */
const EVENT_USAGE = ['total_tokens', 'input_tokens', 'output_tokens', 'input_tokens_details'] as const

/** For the event that carries the usage. Zeros where the upstream counted nothing. */
export function eventUsageOf(result: ImageResult): object {
  const usage = usageOf(result)
  const isWhole = usage !== undefined && EVENT_USAGE.every((field) => field in usage)
  return isWhole ? usage : usageOfTokens(result.tokens)
}

/** For the other events of the same answer: a client that adds them up, or takes the last one, gets the total. */
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
