/**
 * Requests to `POST /v1/images/generations` for tests, and how they read the results: the images, the events, the
 * provider's records.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createParser } from 'eventsource-parser'
import type { LogEntry } from '../../../lab/fake-provider/log.ts'
import type { FakeProvider } from '../../../lab/fake-provider/server.ts'
import { assertFault, type ExpectedFault } from './errors.ts'
import type { FaultCode } from '#core/fault/fault.ts'
import type { AnswerBody, Asked, AskOptions, Gateway } from './gateway.ts'

export const IMAGES_PATH = '/v1/images/generations'

/** Small, so that drawing takes no time. */
export const SMALL = '96x64'

export interface ImageBody extends Pick<AnswerBody, 'error'> {
  readonly created: number
  readonly data: readonly {
    readonly b64_json?: string
    readonly url?: string
    readonly revised_prompt?: string
  }[]
  readonly usage?: ImageUsageBody
  readonly [echo: string]: unknown
}

export interface ImageUsageBody {
  readonly total_tokens: number
  readonly input_tokens: number
  readonly output_tokens: number
}

export interface ImagesAsked extends Omit<Asked, 'body'> {
  readonly body: ImageBody
}

/** A small image, unless the fields say otherwise. */
export function askImages(
  gateway: Pick<Gateway, 'ask'>,
  fields: Readonly<Record<string, unknown>>,
  { headers = {}, ...options }: AskOptions = {},
): Promise<ImagesAsked> {
  const body = { prompt: 'a red bicycle', size: SMALL, ...fields }
  return gateway.ask(body, {
    path: IMAGES_PATH,
    headers,
    ...options,
  }) as Promise<unknown> as Promise<ImagesAsked>
}

export function assertImageFault(answer: ImagesAsked, code: FaultCode, expected: ExpectedFault = {}): void {
  assertFault(answer as unknown as Asked, code, expected)
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The bytes of an answer's images, by base64 or through their links. */
export async function picturesIn({ body, status, text }: ImagesAsked): Promise<Buffer[]> {
  assert.equal(status, 200, text.slice(0, 2000))
  return Promise.all(
    body.data.map(async ({ b64_json: base64, url }) => {
      if (base64 !== undefined) return Buffer.from(base64, 'base64')
      const answer = await fetch(url ?? '')
      assert.equal(answer.status, 200)
      return Buffer.from(await answer.arrayBuffer())
    }),
  )
}

/** What the provider would bill, purchases only, of one scenario or of all. */
export function servedBy(provider: FakeProvider, scenario?: string): LogEntry[] {
  return provider
    .entries()
    .filter(({ served, ...entry }) => served && (scenario === undefined || entry.scenario === scenario))
}

/** Every purchase that was tried, billed or not. */
export function purchasesAt(provider: FakeProvider, scenario: string): LogEntry[] {
  return provider
    .entries()
    .filter(
      ({ operation, ...entry }) =>
        entry.scenario === scenario && (operation === 'generate' || operation === 'submit'),
    )
}

/** Digests of all images that the provider has billed. */
export function billedPictures(provider: FakeProvider, scenario?: string): string[] {
  return servedBy(provider, scenario).flatMap(({ pictures }) => (pictures ?? []).map((each) => each.sha256))
}

export interface ImageEvent {
  readonly name: string | undefined
  readonly data: {
    readonly type: string
    readonly b64_json?: string
    readonly url?: string
    readonly partial_image_index?: number
    readonly usage?: ImageUsageBody
    readonly error?: AnswerBody['error']
    readonly [field: string]: unknown
  }
}

/** Every event of a stream. Each must end with a blank line, the last one too. */
export function eventsIn({
  status,
  headers,
  text,
}: Pick<Asked, 'status' | 'headers' | 'text'>): ImageEvent[] {
  assert.equal(status, 200, text.slice(0, 2000))
  assert.match(headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.ok(text.endsWith('\n\n'), `the stream ends with ${JSON.stringify(text.slice(-20))}`)
  const events: ImageEvent[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ name: event, data: JSON.parse(data) as ImageEvent['data'] }),
    onError: (error) => assert.fail(error),
  })
  parser.feed(text)
  return events
}

export function pictureOf({ data }: ImageEvent): Buffer {
  return Buffer.from(data.b64_json ?? '', 'base64')
}
