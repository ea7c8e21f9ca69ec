import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** A file in the form that `way` names, one of those that openai-node calls uploadable. */
export async function uploadable(library, { file, name, type }, way) {
  if (way === 'stream') return createReadStream(file)
  if (way === 'lazy-stream') return library.toStreamingFile(createReadStream(file), name, { type })
  const bytes = await readFile(file)
  switch (way) {
    case 'named':
      return library.toFile(bytes, name, { type })
    case 'untyped':
      return library.toFile(bytes, name)
    case 'bytes':
      return library.toFile(bytes)
    case 'file':
      return new File([bytes], name, { type })
    case 'response':
      return new Response(bytes, { headers: { 'content-type': type } })
    default:
      throw new Error(`openai-node can't be handed a file as ${way}`)
  }
}

/** A picture in a request of JSON. */
export async function referenceTo({ file, type }) {
  return { image_url: `data:${type};base64,${await readFile(file, 'base64')}` }
}
