/** The shapes in which callers write contents: each says the same, or can't say it. */
import { dataUri, type SampleMedia } from '../fake-provider/sample-media.ts'

/** An image that the upstream has to fetch. */
export interface GivenAddress {
  readonly type: 'image/png'
  readonly url: URL
}

/** A part of a content: a text, media, or an address of media. */
export type Given = string | SampleMedia | GivenAddress

export type GivenContent = readonly Given[]

export interface Shape {
  readonly name: string
  /** Fields of a request; undefined where the shape has no words for these contents. */
  fields(contents: readonly GivenContent[]): Readonly<Record<string, unknown>> | undefined
}

export type GivenKind = 'text' | 'image' | 'audio' | 'video' | 'file'

export function kindOf(part: Given): GivenKind {
  if (typeof part === 'string') return 'text'
  return part.type === 'application/pdf' ? 'file' : (part.type.split('/')[0] as GivenKind)
}

type GivenMedia = Exclude<Given, string>

const uriOf = (part: GivenMedia): string => ('url' in part ? part.url.href : dataUri(part))

const base64Of = (part: GivenMedia): string => ('url' in part ? part.url.href : part.bytes.toString('base64'))

/** OpenRouter's: `image_url`, and `input_…` with base64. */
function typedPart(part: Given): object {
  if (typeof part === 'string') return { type: 'text', text: part }
  const kind = kindOf(part)
  if (kind === 'image') return { type: 'image_url', image_url: { url: uriOf(part) } }
  const format = part.type === 'audio/mpeg' ? 'mp3' : part.type.split('/')[1]
  return { type: `input_${kind}`, [`input_${kind}`]: { data: base64Of(part), format } }
}

/** A text alone is a string, so that a list of both kinds is a mixed one. */
function entryOf(content: GivenContent): unknown {
  const [first, ...more] = content
  return typeof first === 'string' && more.length === 0 ? first : { content: content.map(typedPart) }
}

const onePart = (contents: readonly GivenContent[]): boolean => contents.every(({ length }) => length === 1)

const hasOnly = (contents: readonly GivenContent[], ...kinds: GivenKind[]): boolean =>
  contents.flat().every((part) => kinds.includes(kindOf(part)))

function jinaObject([part]: GivenContent): object {
  if (part === undefined || typeof part === 'string') return { text: part }
  const kind = kindOf(part)
  return { [kind === 'file' ? 'pdf' : kind]: base64Of(part) }
}

function voyagePart(part: Given): object {
  if (typeof part === 'string') return { type: 'text', text: part }
  const type = `${kindOf(part)}_${'url' in part ? 'url' : 'base64'}`
  return { type, [type]: uriOf(part) }
}

function stringUrlPart(part: Given): object {
  return typeof part === 'string'
    ? { type: 'text', text: part }
    : { type: 'image_url', image_url: uriOf(part) }
}

const inputsOf = (
  contents: readonly GivenContent[],
  part: (given: Given) => object,
): { readonly inputs: readonly object[] } => ({
  inputs: contents.map((content) => ({ content: content.map(part) })),
})

export const shapes: readonly Shape[] = [
  { name: 'content', fields: (contents) => ({ input: contents.map(entryOf) }) },
  {
    name: 'bare-parts',
    fields: (contents) =>
      onePart(contents)
        ? { input: contents.map(([part = '']) => (typeof part === 'string' ? part : typedPart(part))) }
        : undefined,
  },
  {
    name: 'string-url',
    fields: (contents) =>
      hasOnly(contents, 'text', 'image')
        ? { input: contents.map((content) => ({ content: content.map(stringUrlPart) })) }
        : undefined,
  },
  {
    name: 'inputs-cohere',
    fields: (contents) => (hasOnly(contents, 'text', 'image') ? inputsOf(contents, typedPart) : undefined),
  },
  {
    name: 'inputs-voyage',
    fields: (contents) =>
      hasOnly(contents, 'text', 'image', 'video') ? inputsOf(contents, voyagePart) : undefined,
  },
  {
    name: 'jina',
    fields: (contents) => (onePart(contents) ? { input: contents.map(jinaObject) } : undefined),
  },
  {
    name: 'modality',
    fields(contents) {
      const [modality, ...more] = new Set(contents.flat().map(kindOf))
      if (!onePart(contents) || more.length > 0 || (modality !== 'image' && modality !== 'audio'))
        return undefined
      return {
        modality,
        input: contents.flat().map((part) => (typeof part === 'string' ? part : uriOf(part))),
      }
    },
  },
  {
    name: 'messages',
    fields: ([content, ...more]) =>
      content === undefined || more.length > 0
        ? undefined
        : { messages: [{ role: 'user', content: content.map(typedPart) }] },
  },
]
