/** A row of the image matrix: what torana.yaml says of its models, and what each client asks of them. */
import type { GivenFile } from './given-pictures.ts'
import type { ImageClient, Speciality } from './image-clients.ts'
import type { ExpectedError, ModelEntry } from './rows.ts'

export type PictureFormat = 'png' | 'jpeg' | 'webp'

export interface ExpectedPictures {
  readonly kind: 'pictures'
  readonly count: number
  readonly form: 'url' | 'b64_json'
  /** `auto` is whatever the upstream made. */
  readonly size: string
  readonly format: PictureFormat | 'auto'
  /** The upstream makes another format; otherwise the bytes are the upstream's. */
  readonly isConverted: boolean
  readonly previews: number
  /** The upstream was given pictures: which, and how. */
  readonly edited?: ExpectedEdit
}

export interface ExpectedEdit {
  /** In the order in which the upstream must get them. */
  readonly images: readonly GivenFile[]
  readonly mask: GivenFile | undefined
  /** The upstream reads masks by colour, so that it gets another one. */
  readonly isTranslated: boolean
  /** Undefined for wires that have a way of their own. */
  readonly sentAs: 'multipart' | 'json' | undefined
}

/** The pictures that a client sends, and how it does so. */
export interface AskedEdit {
  readonly images: readonly GivenFile[]
  readonly mask?: GivenFile
  /** One of the client's ways to be handed a file. */
  readonly giveAs: string
  /** As data URLs in JSON, by the library's method for requests it has none for. */
  readonly json?: true
  /** For the client that writes its forms by hand. */
  readonly form?: WrittenForm
}

export interface WrittenForm {
  /** What each part that holds a picture is called. */
  readonly names: readonly string[]
  /** The other fields stand behind the files. */
  readonly filesFirst: boolean
  readonly maskFirst?: true
  readonly noFilename?: true
  readonly noType?: true
  /** Without a content-length. */
  readonly chunked?: true
}

export type ImageExpectation =
  | ExpectedPictures
  | ({ readonly kind: 'error'; readonly shouldRetry?: 'true' | 'false' } & ExpectedError)
  /** An error after the stream has begun: it has no status of its own. */
  | { readonly kind: 'stream-error'; readonly says: string }

export interface ImageCase {
  readonly name: string
  readonly model: string
  /** Cases of one text are one request, asked again. */
  readonly prompt: string
  readonly n?: number
  readonly size?: string
  readonly responseFormat?: 'url' | 'b64_json'
  readonly outputFormat?: PictureFormat
  readonly stream?: true
  readonly partialImages?: number
  readonly idempotencyKey?: string
  readonly wrongKey?: true
  /** With the library's own retries; otherwise they are switched off, or failing cases would take minutes. */
  readonly retries?: boolean
  /** To be edited; otherwise pictures are made from words alone. */
  readonly edit?: AskedEdit
  readonly expected: ImageExpectation
  /** How many calls the upstream's log must have for this text, charged ones alone. */
  readonly purchases: number
}

export interface ImageRow {
  readonly name: string
  /** By public id. */
  readonly models: Readonly<Record<string, ModelEntry>>
  /** Left out of `--quick`. */
  readonly isThorough?: boolean
  /** Asked by clients of the same speciality, and by no others. */
  readonly speciality?: Speciality
  /** None where the client can't ask it. */
  cases(client: ImageClient): readonly ImageCase[]
}

/** A kind of upstream, and its entry in the configuration. */
export interface Kind {
  readonly name: string
  readonly model: ModelEntry
  /** Asked for in every case; `auto` where the upstream's sizes are only roughly known. */
  readonly size: string
  /** What it can be asked for. */
  readonly formats: readonly PictureFormat[]
  /** Pictures of one call. */
  readonly maxImages: number
  readonly previews: number
  /** The form of pictures when the request names none. */
  readonly form: 'url' | 'b64_json'
}

type Ask = Pick<ImageCase, 'n' | 'responseFormat' | 'outputFormat' | 'stream' | 'partialImages'>

/** What a client asks of a kind of upstream that serves it; undefined where the client can't. */
export function servedCase(
  kind: Kind,
  client: ImageClient,
  name: string,
  ask: Ask = {},
): ImageCase | undefined {
  if (ask.stream && !client.streams) return undefined
  if (ask.responseFormat !== undefined && !client.choosesForm) return undefined
  const { n = 1, outputFormat = 'auto' } = ask
  const size = kind.size === 'auto' ? {} : { size: kind.size }
  return {
    name,
    model: kind.name,
    prompt: promptOf(client, name),
    ...size,
    ...ask,
    purchases: Math.ceil(n / (client.asksForOne ? 1 : kind.maxImages)),
    expected: {
      kind: 'pictures',
      count: n,
      form: client.choosesForm && !ask.stream ? (ask.responseFormat ?? kind.form) : 'b64_json',
      size: kind.size,
      format: outputFormat,
      isConverted: outputFormat !== 'auto' && !kind.formats.includes(outputFormat),
      previews: Math.min(ask.partialImages ?? 0, kind.previews),
    },
  }
}

/** Drawn into the picture by the fake provider, so that the contact sheet tells who asked what. */
export function promptOf(client: ImageClient, name: string): string {
  return `${client.name} asks ${name}`
}

/** What `--quick` asks of every kind: one call, a split one, a stream, and a format that most kinds must be converted to. */
const ESSENTIAL: ReadonlySet<string> = new Set(['plain', 'n-3', 'stream', 'webp'])

/** Everything that a kind of upstream must serve, a row each. */
export function rowsOf(kind: Kind): ImageRow[] {
  const asks: Readonly<Record<string, Ask>> = {
    plain: {},
    'n-3': { n: 3 },
    stream: { stream: true, partialImages: 2 },
    url: { responseFormat: 'url' },
    b64_json: { responseFormat: 'b64_json' },
    png: { outputFormat: 'png' },
    jpeg: { outputFormat: 'jpeg' },
    webp: { outputFormat: 'webp' },
  }
  return Object.entries(asks).map(([ask, options]) => ({
    ...servedRow(kind, `${kind.name}/${ask}`, options),
    isThorough: kind.name !== 'native' && !ESSENTIAL.has(ask),
  }))
}

export function servedRow(kind: Kind, name: string, ask: Ask = {}): ImageRow {
  return {
    name,
    models: { [kind.name]: kind.model },
    cases: (client) => [servedCase(kind, client, name, ask)].filter((asked) => asked !== undefined),
  }
}
