/** One image call through a provider package: translate, buy once, check the answer. */
import type { JSONObject, JSONValue } from '@ai-sdk/provider'
import { ownHeaders } from './own-headers.ts'
import { isRecord } from '#core/text/record.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { modelIn } from '#core/embedding/answer.ts'
import { reportedNanoUsd } from '#core/image/reported-cost.ts'
import { MAX_PICTURES, type ImageAnswer, type MadePicture } from '#ports/image-upstream.ts'
import { failureOf } from './failures.ts'
import { UNKNOWN_TOKENS } from '#core/money/usage.ts'
import type { LoadedCall, LoadedEdit, LoadedPicture } from './image-edit.ts'
import type { ImageFetchOptions, Purchase, SentCall } from './image-fetch.ts'
import { ImageFetch } from './image-fetch.ts'
import type { ImageModel, ImageProvider, Phrase } from './image-providers.ts'
import { providerOf } from './image-providers.ts'

type SentFile = NonNullable<Phrase['mask']>
type Result = Awaited<ReturnType<ImageModel['doGenerate']>>

/** Cached models. A catalog has tens of deployments; more than this are left over from reloads. */
const MAX_MODELS = 512

/** Warnings of packages that sent fewer images than they were given. */
const LEFT_OUT = /\b(ignored|only the first)\b/i

const NO_FIELDS = Object.freeze({})

export function aiSdkImageExchange(
  options: ImageFetchOptions,
): (call: LoadedCall, submitted: (text: string) => Promise<void>) => Promise<ImageAnswer> {
  const models = new Map<string, ImageModel>()
  const purchases = new ImageFetch(options)

  async function modelFor({ deployment }: SentCall, provider: ImageProvider): Promise<ImageModel> {
    const { upstream, upstreamModel } = deployment
    // By value: a catalog that was reloaded with a new credential must get a new model.
    const key = JSON.stringify([upstream, upstreamModel])
    const kept = models.get(key)
    if (kept) return kept
    const made = await provider.model(deployment, purchases.fetch)
    if (models.size >= MAX_MODELS) models.clear()
    models.set(key, made)
    return made
  }

  return async ({ edit, ...call }, submitted) => {
    const provider = providerOf(call.deployment)
    const said = together(phraseOf(call, provider), givenOf(edit, call, provider))
    // Rounded up: timers take whole milliseconds.
    const timeoutMs = Math.ceil(call.timeoutMs)
    const signal = AbortSignal.timeout(timeoutMs)
    const deadlineMs = performance.now() + timeoutMs
    const purchase: Purchase = { call, provider, signal, submitted, deadlineMs, taken: false, ready: false }
    try {
      const model = await modelFor(call, provider)
      const result = await purchases.during(purchase, async () =>
        model.doGenerate({
          prompt: call.prompt,
          n: call.images,
          size: said.size,
          aspectRatio: said.aspectRatio,
          seed: undefined,
          files: said.files,
          mask: said.mask,
          providerOptions: { [provider.key]: { ...provider.always, ...said.options } },
          headers: { ...said.headers, ...ownHeaders(call) },
          abortSignal: signal,
        }),
      )
      return answerOf(result, purchase)
    } catch (error) {
      throw failed(error, purchase)
    }
  }
}

/** Everything that the call asks for except its images, in the package's words. What it has no word for is refused. */
function phraseOf(call: SentCall, provider: ImageProvider): Phrase {
  const { words, severalImages } = provider
  const { deployment, size } = call
  const [extra] = Object.keys(call.extraFields)
  if (extra !== undefined) throw refusal(call, `'${extra}' can not be sent on this wire`, extra)
  if (call.partialImages !== undefined) throw refusal(call, 'this wire knows no previews', 'stream')
  if (call.images > 1 && !severalImages) throw refusal(call, 'this wire makes one picture a call', 'n')

  const phrases: Phrase[] = []
  const say = <Value>(
    value: Value | undefined,
    word: ((value: Value, on: SentCall['deployment']) => Phrase | undefined) | undefined,
    param: string,
  ): void => {
    if (value === undefined) return
    const said = word?.(value, deployment)
    if (said === undefined)
      throw refusal(call, `${param} ${JSON.stringify(value)} can not be asked for on this wire`, param)
    phrases.push(said)
  }
  const inWords = size?.aspectRatio !== undefined || size?.resolution !== undefined
  say(inWords ? undefined : size, words.pixels, 'size')
  say(size?.aspectRatio, words.ratio, 'size')
  say(size?.resolution, words.resolution, 'size')
  say(call.quality, words.quality, 'quality')
  say(call.background, words.background, 'background')
  say(call.moderation, words.moderation, 'moderation')
  say(call.complexity, undefined, 'complexity')
  say(call.format, words.format, 'output_format')
  say(call.compression, words.compression, 'output_compression')
  say(call.user, words.user, 'user')
  say(call.safetyIdentifier, undefined, 'safety_identifier')
  return phrases.reduce(together, {})
}

function givenOf(edit: LoadedEdit | undefined, { deployment }: SentCall, { edits }: ImageProvider): Phrase {
  if (edit === undefined) return {}
  const { pictures, mask } = edit
  if (edits.instead) {
    const urls = pictures.flatMap((picture) => (picture.kind === 'address' ? [picture.url] : []))
    return { options: edits.instead(urls) }
  }
  return {
    files: pictures.map(fileOf),
    mask: mask && fileOf(mask),
    options: edits.options?.(deployment) ?? {},
  }
}

/** As base64, which is how all of them send it: the packages take a hundred times as long to encode it. */
function fileOf(picture: LoadedPicture): SentFile {
  if (picture.kind === 'address') return { type: 'url', url: picture.url }
  const { bytes, format } = picture
  const data = bytes.toBase64()
  // A job may take long, and the bytes are not read again.
  bytes.buffer.transfer(0)
  return { type: 'file', mediaType: `image/${format}`, data }
}

function together(one: Phrase, other: Phrase): Phrase {
  return {
    ...one,
    ...other,
    options: merged(one.options ?? {}, other.options ?? {}),
    headers: { ...one.headers, ...other.headers },
  }
}

/** Two options may share one object of the package. */
function merged(one: JSONObject, other: JSONObject): JSONObject {
  const result = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const before: JSONValue | undefined = result[name]
    result[name] = isRecord(before) && isRecord(value) ? merged(before, value) : value
  }
  return result
}

function answerOf(result: Result, { call, provider, body, endBody }: Purchase): ImageAnswer {
  for (const warning of result.warnings) {
    // The package sent the rest of the request and had an answer: it may have been charged.
    if (warning.type === 'unsupported')
      throw refusal(call, `'${warning.feature}' is not supported`, undefined, 'unknown')
    if (warning.type === 'other' && LEFT_OUT.test(warning.message))
      throw refusal(call, warning.message, undefined, 'unknown')
  }
  // More than were asked for are paid for like the others.
  const images: readonly (string | Uint8Array)[] = result.images.slice(0, MAX_PICTURES)
  if (images.length === 0) throw brokenAnswer(call, 'an answer without a picture')
  const prompts = revisedPrompts(result, provider.key)
  const pictures: MadePicture[] = []
  let broken: UpstreamFailure | undefined
  for (const [index, image] of images.entries()) {
    const bytes = bytesOf(image, call)
    // Beside good images it counts as missing: the others are paid for, and are passed on.
    if (bytes instanceof UpstreamFailure) broken ??= bytes
    else pictures.push({ bytes, revisedPrompt: prompts[index] })
  }
  if (pictures.length === 0 && broken !== undefined) throw broken
  const { reportedCost } = call.deployment.capabilities
  return {
    pictures,
    tokens: provider.tokens?.(body) ?? UNKNOWN_TOKENS,
    // A job's final answer says what was charged; its first answer says what was expected.
    reportedNanoUsd: reportedNanoUsd(endBody, reportedCost) ?? reportedNanoUsd(body, reportedCost),
    model: modelIn(endBody) ?? modelIn(body),
    echoes: NO_FIELDS,
    extraFields: NO_FIELDS,
  }
}

/** In separate memory, so that they can be transferred to another thread. */
function bytesOf(image: string | Uint8Array, call: SentCall): Uint8Array<ArrayBuffer> | UpstreamFailure {
  let bytes: Uint8Array<ArrayBuffer>
  try {
    bytes = typeof image === 'string' ? Uint8Array.fromBase64(image) : owned(image)
  } catch {
    return brokenAnswer(call, 'a picture that is not base64')
  }
  return bytes.length === 0 ? brokenAnswer(call, 'an empty picture') : bytes
}

function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes)
}

function revisedPrompts({ providerMetadata }: Result, key: string): (string | undefined)[] {
  const images: unknown = providerMetadata?.[key]?.images
  if (!Array.isArray(images)) return []
  return images.map((image: unknown) => {
    const prompt = isRecord(image) ? image['revisedPrompt'] : undefined
    return typeof prompt === 'string' ? prompt : undefined
  })
}

/** A call that was accepted may have been charged, whatever went wrong afterwards. */
function failed(error: unknown, { call, provider, origin, taken }: Purchase): unknown {
  if (error instanceof UpstreamFailure) return error
  // Packages use plain errors for what they will not send and what they can't read.
  const strangers =
    error instanceof Error && error.name === 'Error'
      ? origin === undefined
        ? 'rejectedUs'
        : 'broken'
      : provider.strangers
  const words = strangers === undefined ? provider : { ...provider, strangers }
  const failure = failureOf(error, call, words, { answer: 'pictures', asked: askedBy(call) })
  if (!(failure instanceof UpstreamFailure) || !taken) return failure
  const { kind, message, detail, reason } = failure
  return new UpstreamFailure(kind, message, { ...detail, charge: 'unknown' }, reason)
}

function askedBy({ size, quality, format, compression }: SentCall): string {
  const asked = [
    ...(size === undefined ? [] : [`size ${size.width}x${size.height}`]),
    ...(quality === undefined ? [] : [`quality ${quality}`]),
    ...(format === undefined ? [] : [`output_format ${format}`]),
    ...(compression === undefined ? [] : [`output_compression ${compression}`]),
  ]
  return asked.length === 0 ? '' : ` (${asked.join(', ')})`
}

function brokenAnswer(call: SentCall, message: string): UpstreamFailure {
  return new UpstreamFailure('broken', message, { deployment: call.deployment.id, charge: 'unknown' })
}

function refusal(
  call: SentCall,
  message: string,
  param: string | undefined,
  charge: 'none' | 'unknown' = 'none',
): UpstreamFailure {
  return new UpstreamFailure('refused', message, { deployment: call.deployment.id, param, charge })
}
