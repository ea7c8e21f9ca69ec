/** Requests of the images playground: what a caller would send, under a project, and what comes back as it arrives. */
import { EventSourceParserStream, type EventSourceMessage } from 'eventsource-parser/stream'
import { apiUrl, type Schema } from './client.ts'
import { FaultError, UnreachableError } from './faults.ts'
import { words } from '../words/words.ts'

/** As `POST /v1/images/generations` takes it; undefined leaves a field out. */
export interface ImageFields {
  readonly model: string
  readonly prompt: string
  readonly n: number
  readonly size: string | undefined
  readonly quality: string | undefined
  readonly background: string | undefined
  readonly output_format: string | undefined
  readonly partial_images: number | undefined
}

/** Images that go with an edit. The mask belongs to the first. */
export interface EditFiles {
  readonly images: readonly File[]
  readonly mask: Blob | undefined
}

export interface Preview {
  readonly index: number
  readonly image: Blob
}

export interface ImageOutcome {
  /** Also the id of its job. */
  readonly requestId: string
  readonly images: readonly Blob[]
  /** Undefined: it was not known when the answer began. */
  readonly costUsd: string | undefined
  readonly deployment: string | undefined
}

interface CallOptions {
  readonly signal: AbortSignal
  readonly onPreview: (preview: Preview) => void
  /** The secret of a key that the request runs as. Without it: the console's own key in the project. */
  readonly secret?: string
}

export function callImages(
  project: string,
  fields: ImageFields,
  files: EditFiles | undefined,
  { signal, onPreview, secret }: CallOptions,
): Promise<ImageOutcome> {
  const headers: Record<string, string> = secret === undefined ? {} : { 'x-api-key': secret }
  return send(project, fields, files, { signal, headers }).then((response) =>
    response.headers.get('content-type')?.startsWith('text/event-stream') === true
      ? readStream(response, onPreview)
      : readAnswer(response, signal),
  )
}

interface DryRun {
  readonly deployments: readonly { readonly cost_usd: { readonly max: string } }[]
}

/** The maximum cost in dollars; undefined: the model has no price. Calls no upstream, and throws what would be refused. */
export async function maxCost(
  project: string,
  fields: ImageFields,
  files: EditFiles | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const response = await send(project, fields, files, { signal, headers: { 'x-torana-dry-run': 'true' } })
  const { deployments } = (await response.json()) as DryRun
  const amounts = deployments.flatMap(({ cost_usd: cost }) => (cost.max === 'unpriced' ? [] : [cost.max]))
  // Compared as numbers, returned with the original digits.
  return amounts.toSorted((a, b) => Number(b) - Number(a))[0]
}

async function send(
  project: string,
  fields: ImageFields,
  files: EditFiles | undefined,
  { signal, headers = {} }: { readonly signal: AbortSignal; readonly headers?: Record<string, string> },
): Promise<Response> {
  const isStream = fields.partial_images !== undefined
  const parameters = Object.entries({ ...fields, ...(isStream && { stream: true }) }).filter(
    ([, value]) => value !== undefined,
  )
  const path = files === undefined ? 'generations' : 'edits'
  let response: Response
  try {
    response = await fetch(apiUrl(`/api/v1/playground/images/${path}`), {
      method: 'POST',
      signal,
      ...(files === undefined
        ? {
            headers: { ...headers, 'content-type': 'application/json' },
            // The node reads the project before all else.
            body: JSON.stringify({ project, ...Object.fromEntries(parameters) }),
          }
        : { headers, body: formOf(project, parameters, files) }),
    })
  } catch (error) {
    if (signal.aborted) throw error
    throw new UnreachableError(words.ui.unreachable, { cause: error })
  }
  if (response.ok) return response
  throw new FaultError(response, await response.json().catch(() => undefined))
}

function formOf(
  project: string,
  parameters: readonly (readonly [name: string, value: unknown])[],
  { images, mask }: EditFiles,
): FormData {
  const form = new FormData()
  form.set('project', project)
  for (const [name, value] of parameters) form.set(name, String(value))
  for (const image of images) form.append('image[]', image, image.name)
  if (mask !== undefined) form.set('mask', mask, 'mask.png')
  return form
}

async function readAnswer(response: Response, signal: AbortSignal): Promise<ImageOutcome> {
  const answer = (await response.json()) as Schema<'ImageAnswer'>
  const images = await Promise.all(
    answer.data.map(async ({ b64_json: text, url }) =>
      text === undefined ? await fetched(url, signal) : blobOf(text),
    ),
  )
  return { ...headOf(response), images }
}

interface ImageEvent {
  readonly type: string
  readonly b64_json?: string
  readonly partial_image_index?: number
  readonly error?: { readonly message?: string; readonly code?: string }
}

/** The longest event: an image of 50 MB in base64. */
const MAX_EVENT_CHARACTERS = 70_000_000

export async function readStream(
  response: Response,
  onPreview: (preview: Preview) => void,
): Promise<ImageOutcome> {
  const images: Blob[] = []
  for await (const { event: name = 'message', data } of eventsOf(response)) {
    const event = JSON.parse(data) as ImageEvent
    if (name === 'error' || event.error !== undefined) throw new FaultError(response, event)
    if (event.b64_json === undefined) continue
    const image = blobOf(event.b64_json)
    if (name.endsWith('.partial_image')) onPreview({ index: event.partial_image_index ?? 0, image })
    else if (name.endsWith('.completed')) images.push(image)
  }
  return { ...headOf(response), images }
}

/** Read by hand: not every browser can loop over a stream. */
async function* eventsOf({ body }: Response): AsyncGenerator<EventSourceMessage> {
  if (body === null) return
  const reader = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_CHARACTERS }))
    .getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

function headOf({ headers }: Response): Omit<ImageOutcome, 'images'> {
  const cost = headers.get('x-torana-cost')
  return {
    requestId: headers.get('x-torana-job') ?? headers.get('x-request-id') ?? '',
    costUsd: cost === null || cost === 'unpriced' ? undefined : cost,
    deployment: headers.get('x-torana-deployment') ?? undefined,
  }
}

async function fetched(url: string | undefined, signal: AbortSignal): Promise<Blob> {
  if (url === undefined) throw new Error(words.images.noImage)
  return (await fetch(url, { signal })).blob()
}

/** The type is read from the bytes, as Torana does. */
function blobOf(base64: string): Blob {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return new Blob([bytes], { type: typeOf(bytes) })
}

function typeOf([first]: Uint8Array): string {
  return first === 0x89 ? 'image/png' : first === 0xff ? 'image/jpeg' : 'image/webp'
}
