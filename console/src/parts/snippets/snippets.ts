/**
 * How each SDK asks for a model, as one can paste it: the address of this install, the model, its space pinned. Only the key
 * has to be put in the place of `KEY`. Pure: a test runs what it makes.
 */
import { EMBEDDINGS } from './embedding-snippets.ts'
import { IMAGES } from './image-snippets.ts'
import { SDKS, type Asked, type Sdk } from './snippet.ts'

/** LangChain and LlamaIndex for Python have no pictures over this wire. */
export function sdksFor(kind: Asked['kind']): readonly Sdk[] {
  return kind === 'embedding' ? SDKS : SDKS.filter((sdk) => IMAGES[sdk] !== undefined)
}

export function snippet(sdk: Sdk, asked: Asked): string {
  return asked.kind === 'embedding' ? EMBEDDINGS[sdk](asked) : (IMAGES[sdk] ?? IMAGES.curl)(asked)
}
