/**
 * One image call over the OpenAI wire: send, read the answer as it arrives, fetch images that came as
 * addresses, classify what went wrong.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Upstream } from '#core/catalog/catalog.ts'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { UpstreamFailure, type FailureDetail } from '#core/fault/failure.ts'
import {
  AddressRefused,
  MAX_PICTURES,
  type ImageAnswer,
  type ImageCall,
  type ImageEvents,
  type ImageUpstream,
  type MadePicture,
  type PictureFetcher,
} from '#ports/image-upstream.ts'
import { modelIn } from '#core/embedding/answer.ts'
import { reportedNanoUsd } from '#core/image/reported-cost.ts'
import { hasCounted } from '#core/money/usage.ts'
import { failureOfAnswer, failureOfError, failureOfErrorObject, requestIdIn } from './failures.ts'
import { isUnsent, type HttpAnswer, type UpstreamHttp } from '../connect/http.ts'
import type { ImageReply } from './image-reply.ts'
import { ImageSink } from './image-sink.ts'
import { imageBody } from './image.ts'
import { editBody } from './image-edit.ts'
import { namesHeader, type Target } from './embedding.ts'
import { PictureBytes } from '../connect/picture-bytes.ts'
import type { StreamedBody } from '../connect/sent-body.ts'

/** The properties of a dialect of the OpenAI family. */
export interface OpenaiImageDialect {
  target(upstream: Upstream): Target
  path(target: Target, call: ImageCall): string
}

export interface ImageParts {
  readonly fetcher: PictureFetcher
  /** Largest answer read, its images included: ten of 8 MB are 107 MB of base64. */
  readonly answerBytes: number
}

export function exchangeImage(
  dialect: OpenaiImageDialect,
  http: UpstreamHttp,
  parts: ImageParts,
): ImageUpstream {
  const targets = new WeakMap<Upstream, Target>()
  return {
    async generate(call, events) {
      const { upstream } = call.deployment
      const target = targets.get(upstream) ?? dialect.target(upstream)
      targets.set(upstream, target)
      const deadlineMs = performance.now() + call.timeoutMs
      const { reply, detail, firstByteMs } = await exchange({ dialect, http, parts, target }, call, events)
      if (reply.pictures.length === 0) throw failureOfNothing(reply, call, detail)
      try {
        const answer = await answerOf(reply, { call, parts, target, deadlineMs })
        return { ...answer, firstByteMs, upstreamRequestId: detail.upstreamRequestId }
      } catch (error) {
        throw failureOfError(error, detail)
      }
    },
  }
}

interface ExchangeContext {
  readonly dialect: OpenaiImageDialect
  readonly http: UpstreamHttp
  readonly parts: ImageParts
  readonly target: Target
}

/** The answer, and what is known about the exchange if it is a failure. */
interface ExchangeResult {
  readonly reply: ImageReply
  readonly detail: FailureDetail
  readonly firstByteMs: number | undefined
}

async function exchange(
  context: ExchangeContext,
  call: ImageCall,
  events: ImageEvents,
): Promise<ExchangeResult> {
  const { dialect, http, parts, target } = context
  const sink = new ImageSink(call.images, events)
  const posted = http.post(
    {
      origin: target.origin,
      tls: target.tls,
      path: dialect.path(target, call),
      ...contentOf(call, target.headers),
      timeoutMs: call.timeoutMs,
      answerBytes: parts.answerBytes,
    },
    sink,
  )
  let answer: HttpAnswer | undefined
  try {
    answer = await Promise.race([posted, sink.finished])
  } catch (error) {
    // Images that a broken stream has brought are paid for.
    const reply = await sink.soFar()
    if (reply.pictures.length > 0) return resultOf(reply, call, sink)
    const known = detailOf(call, sink)
    const detail = isUnsent(error) ? ({ ...known, charge: 'none' } as const) : known
    throw failureOfError(error, detail)
  }
  // Nothing after the last event matters.
  posted.catch(() => {})
  if (answer !== undefined && (answer.status < 200 || answer.status > 299)) {
    throw failureOfAnswer(answer, call.deployment)
  }
  try {
    return resultOf(await sink.end(), call, sink)
  } catch (error) {
    const reply = await sink.soFar()
    if (reply.pictures.length > 0) return resultOf(reply, call, sink)
    throw failureOfError(error, detailOf(call, sink))
  }
}

function resultOf(reply: ImageReply, call: ImageCall, sink: ImageSink): ExchangeResult {
  return { reply, detail: detailOf(call, sink), firstByteMs: sink.firstByteMs }
}

interface Content {
  readonly headers: string[]
  readonly body: string | StreamedBody
}

function contentOf(call: ImageCall, targetHeaders: readonly string[]): Content {
  const accepted = namesHeader(call.deployment.upstream, 'accept')
    ? targetHeaders
    : withHeader(targetHeaders, 'accept', call.partialImages === undefined ? ACCEPTED : ACCEPTED_STREAM)
  const headers = [...accepted, 'x-torana-call-id', call.callId, ...(call.traceHeaders ?? [])]
  if (call.edit === undefined) return { headers, body: imageBody(call) }
  const { contentType, body } = editBody(call, call.edit)
  return { headers: withHeader(headers, 'content-type', contentType), body }
}

/** Some servers answer with the image itself. */
const ACCEPTED = 'application/json, image/*;q=0.5'
const ACCEPTED_STREAM = `text/event-stream, ${ACCEPTED}`

function withHeader(headers: readonly string[], header: string, content: string): string[] {
  const others: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2)
    if (name.toLowerCase() !== header) others.push(name, value)
  }
  return [...others, header, content]
}

function detailOf({ deployment }: ImageCall, { status, headers, isStream }: ImageSink): FailureDetail {
  return {
    deployment: deployment.id,
    status,
    upstreamRequestId: requestIdIn(headers),
    // An upstream that began to send events has begun to work.
    charge: isStream ? 'unknown' : undefined,
  }
}

/** The status was good, but there is no image in the answer. */
function failureOfNothing(reply: ImageReply, call: ImageCall, known: FailureDetail): UpstreamFailure {
  const { error, refusals, tokens } = reply
  const { upstream } = call.deployment
  const detail = hasCounted(tokens) ? ({ ...known, charge: 'unknown', counted: tokens } as const) : known
  if (error !== undefined) return failureOfErrorObject(error, upstream, detail)
  if (refusals.length === 0) return new UpstreamFailure('broken', 'an answer without a picture', detail)
  const failure = failureOfErrorObject(refusals[0], upstream, detail)
  const isTrouble = /internal|server|timeout|unavailable/i.test(failure.detail.code ?? '')
  return isTrouble ? failure : new UpstreamFailure('contentRefused', failure.message, failure.detail)
}

interface FetchContext {
  readonly call: ImageCall
  readonly parts: ImageParts
  readonly target: Target
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number
}

async function answerOf(reply: ImageReply, context: FetchContext): Promise<ImageAnswer> {
  const { tokens, eachTokens, usage, echoes, extraFields } = reply
  // More than were asked for are paid for like the others.
  const pictures = reply.pictures.slice(0, MAX_PICTURES)
  const pending = pictures.map(({ source }) =>
    source instanceof PictureBytes ? source : downloaded(source.url, pictures.length, context),
  )
  const made: MadePicture[] = []
  let missed: BrokenAnswer | undefined
  for (const [index, { revisedPrompt }] of pictures.entries()) {
    const source = await pending[index]
    if (source instanceof PictureBytes)
      made.push({ bytes: source.whole(), discard: () => source.discard(), revisedPrompt })
    else if (source instanceof Uint8Array) made.push({ bytes: source, revisedPrompt })
    // An image that can't be fetched counts as missing: the others are paid for, and are passed on.
    else missed ??= source
  }
  if (made.length === 0 && missed !== undefined) throw missed
  const { reportedCost } = context.call.deployment.capabilities
  const costNanoUsd = reportedNanoUsd({ ...extraFields, usage }, reportedCost)
  const model = modelIn(extraFields)
  return {
    pictures: made,
    tokens,
    eachTokens,
    usage,
    reportedNanoUsd: costNanoUsd,
    model,
    echoes,
    extraFields,
  }
}

async function downloaded(
  url: string,
  count: number,
  context: FetchContext,
): Promise<Uint8Array<ArrayBuffer> | BrokenAnswer> {
  try {
    const bytes = await fetched(url, Math.floor(context.parts.answerBytes / count), context)
    return bytes.length === 0 ? new BrokenAnswer('an empty picture') : bytes
  } catch (error) {
    if (error instanceof AddressRefused) {
      return new BrokenAnswer(`a picture at an address that is not connected to: ${error.message}`)
    }
    return new BrokenAnswer('a picture at an address from which it could not be fetched')
  }
}

/** Self-hosted servers may name their files by a path alone, which is relative to their own origin. */
function absolute(url: string, { origin, basePath }: Target): string {
  return URL.parse(url, `${origin}${basePath}/`)?.href ?? url
}

/** Unlike a purchase, a download may be repeated. */
const FETCH_TRIES = 3
/** Result stores may answer 404 for a moment before they know a new result. */
const FETCH_PAUSE_MS = 300

async function fetched(
  url: string,
  maxBytes: number,
  context: FetchContext,
): Promise<Uint8Array<ArrayBuffer>> {
  const { parts, call, target, deadlineMs } = context
  for (let tried = 1; ; tried += 1) {
    const timeoutMs = deadlineMs - performance.now()
    try {
      const { pictureHosts: trustedHosts } = call.deployment.upstream
      const options = { trustedOrigin: target.origin, trustedHosts, timeoutMs, maxBytes }
      return await parts.fetcher.fetch(absolute(url, target), options)
    } catch (error) {
      const isLast = tried === FETCH_TRIES || deadlineMs - performance.now() < FETCH_PAUSE_MS * tried
      if (isLast || error instanceof AddressRefused) throw error
      await delay(FETCH_PAUSE_MS * tried)
    }
  }
}
