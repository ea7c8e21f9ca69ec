/**
 * The `fetch` that the image packages get. It distinguishes requests that buy, that poll a job and that fetch
 * an image: a purchase is sent once and recorded; a job is polled until it ends, so that the packages' own
 * intervals and limits never apply; an image is fetched through the address guard, without a key.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout } from 'node:timers/promises'
import { scrubbed, UpstreamFailure } from '#core/fault/failure.ts'
import { hasCounted } from '#core/money/usage.ts'
import type { ImageCall, PictureFetcher } from '#ports/image-upstream.ts'
import { AddressRefused } from '#ports/image-upstream.ts'
import { HttpTooLarge } from '../connect/http.ts'
import { unlessAborted } from '../connect/unless-aborted.ts'
import { secretsOf } from '../openai/secrets.ts'
import { requestIdIn } from '../openai/failures.ts'
import type { Reading } from './image-answers.ts'
import type { ImageProvider } from './image-providers.ts'
import type { Fetch } from './providers.ts'

export interface ImageLimits {
  readonly pollIntervalMs: number
  /** Largest picture fetched from an address. */
  readonly pictureBytes: number
}

export interface ImageFetchOptions extends ImageLimits {
  readonly fetch: Fetch
  readonly pictures: PictureFetcher
}

/** Without its images, which are not needed once they are sent. */
export type SentCall = Omit<ImageCall, 'edit'>

/** One call in progress. */
export interface Purchase {
  readonly call: SentCall
  readonly provider: ImageProvider
  readonly signal: AbortSignal
  readonly submitted: (text: string) => Promise<void>
  readonly deadlineMs: number
  /** Origin of the address that the package built from the configuration; undefined before the first request. */
  origin?: string
  /** Answered with a good status: from here on every failure may have been charged. */
  taken: boolean
  /** The answer that names or holds the images has come. */
  ready: boolean
  /** The answer to the submit. */
  body?: unknown
  /** The final answer of a polled job. Undefined when the submit's answer was final. */
  endBody?: unknown
}

/** Longest recorded answer: a longer one holds its images, which are not stored twice. */
const MAX_SUBMITTED_CHARACTERS = 256 * 1024

/** Attempts to fetch an image. A paid image is worth more than one, but its address expires. */
const PICTURE_TRIES = 3

/** Bodies are passed to the packages decoded and whole. */
const WIRE_HEADERS = /^(content-encoding|content-length|transfer-encoding|set-cookie)$/

export class ImageFetch {
  readonly #options: ImageFetchOptions
  readonly #purchases = new AsyncLocalStorage<Purchase>()

  constructor(options: ImageFetchOptions) {
    this.#options = options
  }

  /** Requests made while `work` runs belong to this purchase. */
  during<Result>(purchase: Purchase, work: () => Promise<Result>): Promise<Result> {
    return this.#purchases.run(purchase, work)
  }

  readonly fetch: Fetch = async (input, init) => {
    const purchase = this.#purchases.getStore()
    if (purchase === undefined) throw new Error('a request that belongs to no call')
    const url = new URL(input instanceof Request ? input.url : input)
    if (purchase.origin === undefined) return this.#submit(purchase, url, init)
    if (!purchase.ready) return this.#poll(purchase, url, init)
    // Some packages would continue by themselves when an answer announces more.
    if (init?.method === 'POST') throw broken(purchase, 'an answer that asks for a second purchase')
    return this.#picture(purchase, url)
  }

  async #submit(purchase: Purchase, url: URL, init: RequestInit | undefined): Promise<Response> {
    const { call, provider } = purchase
    purchase.origin = url.origin
    const response =
      call.submitted === undefined ? await this.#send(purchase, url, init) : responseOf(call.submitted)
    if (!response.ok) return response
    purchase.taken = true
    if (isPicture(response)) {
      refuseFiltered(purchase, response)
      purchase.ready = true
      return response
    }
    const text = await textOf(purchase, response)
    purchase.body = parsed(purchase, text, response)
    if (call.submitted === undefined && isWorthRecording(provider, text)) {
      // Recording may take forever.
      await unlessAborted(purchase.signal, purchase.submitted(recordOf(response, text)))
    }
    const reading = readingOf(purchase, purchase.body, response)
    purchase.ready = provider.pictures !== 'polled' && reading.state === 'ready'
    return answerFor(response, reading, text)
  }

  async #poll(purchase: Purchase, url: URL, init: RequestInit | undefined): Promise<Response> {
    for (;;) {
      const response = await this.#ask(purchase, url, init)
      if (response !== undefined) {
        if (response.status === 404 || response.status === 410) {
          throw broken(purchase, 'it no longer knows the job that it took', response)
        }
        if (!response.ok) return response
        const said = await jsonOf(response)
        if (said !== undefined) {
          const reading = readingOf(purchase, said.body, response)
          purchase.ready = reading.state === 'ready'
          if (purchase.ready) {
            purchase.endBody = said.body
            return answerFor(response, reading, said.text)
          }
        }
      }
      await setTimeout(this.#options.pollIntervalMs, undefined, { signal: purchase.signal })
    }
  }

  /** Undefined when there was no answer this time. The job continues meanwhile, so it is polled again. */
  async #ask(purchase: Purchase, url: URL, init: RequestInit | undefined): Promise<Response | undefined> {
    if (!isOwn(purchase, url)) return this.#picture(purchase, url)
    try {
      const response = await this.#send(purchase, url, init)
      if (response.status !== 408 && response.status !== 429 && response.status < 500) return response
      await response.body?.cancel()
      return undefined
    } catch (error) {
      purchase.signal.throwIfAborted()
      // `fetch` rejects with this when there was no answer.
      if (error instanceof TypeError) return undefined
      throw error
    }
  }

  #send(purchase: Purchase, url: URL, init: RequestInit | undefined): Promise<Response> {
    const headers = new Headers(init?.headers)
    // Replicate's package asks it to delay the answer until the image is there; until then nothing could be recorded.
    headers.delete('prefer')
    // A provider's keys in headers would follow a redirect to any address.
    return this.#options.fetch(url, { ...init, headers, redirect: 'manual', signal: purchase.signal })
  }

  async #picture(purchase: Purchase, url: URL): Promise<Response> {
    if (url.protocol === 'data:') return this.#options.fetch(url)
    const { pictures, pictureBytes: maxBytes, pollIntervalMs } = this.#options
    for (let tries = 1; ; tries += 1) {
      try {
        const timeoutMs = Math.max(1, Math.ceil(purchase.deadlineMs - performance.now()))
        return new Response(
          await pictures.fetch(url.href, { trustedOrigin: purchase.origin, timeoutMs, maxBytes }),
        )
      } catch (error) {
        purchase.signal.throwIfAborted()
        const isFinal = error instanceof AddressRefused || error instanceof HttpTooLarge
        if (isFinal || tries === PICTURE_TRIES) {
          const message = error instanceof Error ? error.message : String(error)
          throw broken(purchase, `a picture that could not be fetched: ${message}`)
        }
        await setTimeout(pollIntervalMs, undefined, { signal: purchase.signal })
      }
    }
  }
}

function isOwn({ origin, provider }: Purchase, { origin: there, protocol, hostname }: URL): boolean {
  if (there === origin) return true
  return (
    protocol === 'https:' &&
    (provider.domains ?? []).some((domain) => hostname === domain || hostname.endsWith(`.${domain}`))
  )
}

function isPicture({ headers }: Response): boolean {
  return /^(image\/|application\/octet-stream)/i.test(headers.get('content-type') ?? '')
}

/** Fireworks blackens an image that its filter caught, and says so in a header. */
function refuseFiltered({ call }: Purchase, response: Response): void {
  if (response.headers.get('finish-reason') !== 'CONTENT_FILTERED') return
  throw new UpstreamFailure('contentRefused', 'The picture was caught by its content filter.', {
    deployment: call.deployment.id,
    status: response.status,
    upstreamRequestId: requestIdIn(headersOf(response)),
    charge: 'unknown',
  })
}

function isWorthRecording({ pictures }: ImageProvider, text: string): boolean {
  return pictures !== 'inside' && text.length <= MAX_SUBMITTED_CHARACTERS
}

/** The recorded answer to a submit. */
interface SubmitRecord {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function recordOf(response: Response, body: string): string {
  const { status } = response
  return JSON.stringify({ status, headers: headersOf(response), body } satisfies SubmitRecord)
}

function responseOf(submitted: string): Response {
  const { status, headers, body } = JSON.parse(submitted) as SubmitRecord
  return new Response(body, { status, headers })
}

function headersOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !WIRE_HEADERS.test(name)))
}

function answerFor(
  response: Response,
  reading: Exclude<Reading, { state: 'ended' }>,
  text: string,
): Response {
  const body = reading.body === undefined ? text : JSON.stringify(reading.body)
  return new Response(body, { status: response.status, headers: headersOf(response) })
}

async function textOf(purchase: Purchase, response: Response): Promise<string> {
  try {
    return await response.text()
  } catch {
    purchase.signal.throwIfAborted()
    throw broken(purchase, 'an answer that was cut off', response)
  }
}

/** Undefined when it was cut off, or is not JSON. */
async function jsonOf(response: Response): Promise<{ text: string; body: unknown } | undefined> {
  try {
    const text = await response.text()
    return { text, body: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function parsed(purchase: Purchase, text: string, response: Response): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw broken(purchase, 'an answer that is not JSON', response)
  }
}

function readingOf(
  purchase: Purchase,
  body: unknown,
  response: Response,
): Exclude<Reading, { state: 'ended' }> {
  const reading = purchase.provider.read?.(body) ?? { state: 'ready' }
  if (reading.state !== 'ended') return reading
  const { deployment } = purchase.call
  const tokens = reading.charge === 'none' ? undefined : purchase.provider.tokens?.(body)
  throw new UpstreamFailure(reading.kind, scrubbed(reading.reason, secretsOf(deployment.upstream)), {
    deployment: deployment.id,
    status: response.status,
    upstreamRequestId: requestIdIn(headersOf(response)),
    charge: reading.charge,
    // The answer arrived, and says what it used.
    counted: tokens && hasCounted(tokens) ? tokens : undefined,
  })
}

/** Without a cause: the packages search causes for network errors, and would replace this error. */
function broken({ call }: Purchase, message: string, response?: Response): UpstreamFailure {
  const { id, upstream } = call.deployment
  return new UpstreamFailure('broken', scrubbed(message, secretsOf(upstream)), {
    deployment: id,
    status: response?.status,
    upstreamRequestId: response && requestIdIn(headersOf(response)),
    charge: 'unknown',
  })
}
