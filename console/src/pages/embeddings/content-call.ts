/** Inputs as the API takes them: a text as it is, and everything else as a content of parts. */
import type { LineInput } from './content-lines.ts'
import { mediaTypeOf } from './media-format.ts'
import type { MediaFile } from './media-store.ts'

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'file'; readonly file: { readonly file_data: string } }

export type CallInput = string | { readonly content: readonly Part[] }

type Files = ReadonlyMap<string, MediaFile>

/** `urlOf`: where the bytes of media are, as a data URL or an address. */
export function contentsOf(
  inputs: readonly LineInput[],
  files: Files,
  urlOf: (file: MediaFile) => string,
): CallInput[] {
  return inputs.map(({ text, media }) => {
    if (media.length === 0) return text
    const parts = media.flatMap(({ id }): Part[] => {
      const file = files.get(id)
      if (file === undefined) return []
      const url = urlOf(file)
      return file.kind === 'image'
        ? [{ type: 'image_url', image_url: { url } }]
        : [{ type: 'file', file: { file_data: url } }]
    })
    return { content: [...(text === '' ? [] : [{ type: 'text', text } as const]), ...parts] }
  })
}

export async function callInputs(inputs: readonly LineInput[], files: Files): Promise<CallInput[]> {
  const ids = new Set(inputs.flatMap(({ media }) => media.map(({ id }) => id)))
  const urls = new Map<string, string>()
  for (const [id, file] of files) if (ids.has(id)) urls.set(id, file.url ?? (await dataUrlOf(file)))
  return contentsOf(inputs, files, ({ id }) => urls.get(id) ?? '')
}

/** With bytes left out, for code to read: each text and content as JSON. */
export function shortInputs(inputs: readonly LineInput[], files: Files): string[] {
  const short = ({ url, format }: MediaFile): string =>
    url ?? `data:${format === undefined ? '' : mediaTypeOf(format)};base64,…`
  return contentsOf(inputs, files, short).map((input) => JSON.stringify(input))
}

/** With the type that its bytes say. */
function dataUrlOf({ blob, format }: MediaFile): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(reader.result as string)
  reader.onerror = () => reject(reader.error ?? new Error('the file can no longer be read'))
  reader.readAsDataURL(new Blob(blob ? [blob] : [], format && { type: mediaTypeOf(format) }))
  return promise
}
