/** What every kind of upstream that edits is asked, and in which forms clients and forms can hold a file. */
import { nativeEdit, type EditKind } from './edit-kinds.ts'
import { drawing, givenSize, large, mask, photo, poster, sketch, type GivenFile } from './given-pictures.ts'
import { imageClients, type ImageClient } from './image-clients.ts'
import {
  promptOf,
  type AskedEdit,
  type ExpectedPictures,
  type ImageCase,
  type ImageExpectation,
  type ImageRow,
  type WrittenForm,
} from './image-rows.ts'

type Ask = Pick<ImageCase, 'n' | 'outputFormat' | 'stream' | 'partialImages' | 'idempotencyKey' | 'retries'>
type Files = Pick<AskedEdit, 'images' | 'mask' | 'json' | 'form'> & { readonly giveAs?: string }

/** Undefined where the client can't ask it; an error where the upstream can't serve it. */
export function editCase(
  kind: EditKind,
  client: ImageClient,
  name: string,
  { giveAs = client.givesAs[0] ?? '', ...files }: Files,
  ask: Ask = {},
): ImageCase | undefined {
  if ((ask.stream && !client.streams) || (files.json && !client.posts)) return undefined
  if (!client.givesAs.includes(giveAs) || files.images.length > client.maxGiven) return undefined
  const refusal = refusalOf(kind, files)
  // Only PNG tells of every pixel what became of it.
  const { n = 1, outputFormat = kind.formats.includes('png') ? 'png' : undefined } = ask
  return {
    name,
    model: kind.name,
    prompt: promptOf(client, name),
    ...ask,
    ...(outputFormat === undefined ? {} : { outputFormat }),
    edit: { ...files, giveAs },
    purchases: refusal === undefined ? Math.ceil(n / (client.asksForOne ? 1 : kind.maxImages)) : 0,
    expected: refusal ?? picturesOf(kind, files, { ...ask, n, outputFormat }),
  }
}

function picturesOf(
  kind: EditKind,
  files: Files,
  {
    n,
    outputFormat,
    partialImages,
  }: Omit<Ask, 'n' | 'outputFormat'> & {
    readonly n: number
    readonly outputFormat: ImageCase['outputFormat']
  },
): ExpectedPictures {
  return {
    kind: 'pictures',
    count: n,
    form: 'b64_json',
    size: givenSize,
    format: outputFormat ?? 'auto',
    isConverted: outputFormat !== undefined && !kind.formats.includes(outputFormat),
    previews: Math.min(partialImages ?? 0, kind.previews),
    edited: {
      images: inOrder(files),
      mask: files.mask,
      isTranslated: kind.mask === 'colour',
      sentAs: kind.sentAs,
    },
  }
}

/** By the numbers in their names, where a form gives them such. */
function inOrder({ images, form }: Pick<Files, 'images' | 'form'>): readonly GivenFile[] {
  const numbers = form?.names.map((name) => /\[(\d+)\]/.exec(name)?.[1])
  if (numbers === undefined || numbers.includes(undefined)) return images
  return images
    .map((image, position) => ({ image, number: Number(numbers[position]) }))
    .toSorted((one, other) => one.number - other.number)
    .map(({ image }) => image)
}

function refusalOf(kind: EditKind, { images, mask: sent }: Files): ImageExpectation | undefined {
  const refused = (says: string): ImageExpectation => ({
    kind: 'error',
    status: 400,
    code: 'unsupported_parameter',
    says,
  })
  if (images.length > kind.maxInputs) return refused('takes at most')
  return sent !== undefined && kind.mask === 'none' ? refused('takes no mask') : undefined
}

export function editRow(kind: EditKind, name: string, files: Files, ask: Ask = {}): ImageRow {
  return {
    name,
    models: { [kind.name]: kind.model },
    cases: (client) => [editCase(kind, client, name, files, ask)].filter((asked) => asked !== undefined),
  }
}

/** What differs between upstreams; what is left is done by the gateway itself, and asked of one of them. */
const essential: ReadonlySet<string> = new Set(['one', 'three', 'mask'])

/** Everything that a kind of upstream must serve or refuse, a row each. */
export function rowsOfEdits(kind: EditKind): ImageRow[] {
  const third = kind.readsWebp ? poster : sketch
  const all = kind.maxInputs < 3 ? [photo] : [photo, drawing, third]
  const masked = kind.mask === 'none' ? {} : { mask }
  const asks: Readonly<Record<string, readonly [Files, Ask?]>> = {
    one: [{ images: [photo] }],
    three: [{ images: [photo, drawing, third] }],
    mask: [{ images: [photo], mask }],
    stream: [{ images: all }, { stream: true, partialImages: 2 }],
    'n-2': [{ images: all, ...masked }, { n: 2 }],
    webp: [{ images: [photo] }, { outputFormat: 'webp' }],
    json: [{ images: all, ...masked, json: true }],
  }
  return Object.entries(asks).map(([ask, [files, options]]) => ({
    ...editRow(kind, `${kind.name}/${ask}`, files, options),
    isThorough: kind !== nativeEdit && (kind.isPolled || !essential.has(ask)),
  }))
}

/** Every form in which some client can be handed a file. */
export const fileRows: readonly ImageRow[] = [
  ...[...new Set(imageClients.flatMap(({ givesAs }) => givesAs))].map(fileRow),
  editRow(nativeEdit, 'file/large', { images: [large, photo, large] }),
]

function fileRow(giveAs: string): ImageRow {
  const name = `file/${giveAs}`
  return {
    name,
    models: { [nativeEdit.name]: nativeEdit.model },
    cases: (client) => {
      const several = client.shuffles.includes(giveAs) ? 1 : client.maxGiven
      const images = [photo, drawing, poster].slice(0, several)
      const asked = editCase(nativeEdit, client, name, { images, mask, giveAs })
      return asked === undefined ? [] : [asked]
    },
  }
}

/** The same form as less common libraries write it. */
export const formRows: readonly ImageRow[] = Object.entries({
  image: { images: [photo], names: ['image'] },
  'image[]': { images: [photo, drawing, poster], names: ['image[]', 'image[]', 'image[]'] },
  'image[] of one': { images: [photo], names: ['image[]'] },
  'image[0]': { images: [drawing, photo, poster], names: ['image[1]', 'image[0]', 'image[2]'] },
  'image repeated': { images: [photo, drawing, poster], names: ['image', 'image', 'image'] },
  'no filename': { images: [photo, drawing], names: ['image[]', 'image[]'], noFilename: true },
  'no type': { images: [photo, drawing], names: ['image[]', 'image[]'], noType: true },
  'neither of them': { images: [photo], names: ['image'], noFilename: true, noType: true },
  'mask first': { images: [photo, drawing], names: ['image[]', 'image[]'], maskFirst: true },
  chunked: { images: [photo, large], names: ['image[]', 'image[]'], chunked: true },
} as const).flatMap(([name, { images, ...written }]) =>
  [false, true].map((filesFirst) => {
    const form: WrittenForm = { ...written, filesFirst }
    const title = `form/${name}${filesFirst ? ', files first' : ''}`
    return { ...editRow(nativeEdit, title, { images, mask, form }), speciality: 'forms' as const }
  }),
)
