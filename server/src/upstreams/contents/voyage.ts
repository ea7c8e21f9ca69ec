/** Voyage's `/v1/multimodalembeddings`. */
import { hasAddress, hasMedia, isText, type Content, type Part } from '#core/content/content.ts'
import type { Usage } from '#core/money/usage.ts'
import { dataUrl } from './base64.ts'
import {
  fieldsIn,
  isCount,
  kindsIn,
  measured,
  Unsendable,
  unsendable,
  type ContentWire,
  type Fields,
} from './wire.ts'

export const voyage: ContentWire = {
  isOpenai: true,
  inputType: 'taken',
  outputType: true,
  path: () => '/multimodalembeddings',
  body: ({ deployment, inputType, dimensions, outputType }, contents) => {
    refuseTwoSources(contents)
    return {
      model: deployment.upstreamModel,
      inputs: contents.map(({ parts }) => ({ content: parts.map(partOf) })),
      input_type: inputType,
      truncation: false,
      output_dimension: dimensions,
      output_dtype: outputType,
    }
  },
  read: ({ data, usage }, contents) => ({ items: data, usage: usageOf(fieldsIn(usage), contents) }),
}

/** Voyage refuses addresses and base64 in one request. */
function refuseTwoSources(contents: readonly Content[]): void {
  const parts = contents.flatMap((content) => content.parts)
  if (parts.some(hasAddress) && parts.some(hasMedia))
    throw new Unsendable('addresses and media can not be sent together on this wire')
}

function partOf(part: Part): Fields {
  if (isText(part)) return { type: 'text', text: part.text }
  if (part.kind !== 'image' && part.kind !== 'video') throw unsendable(part.kind)
  const type = `${part.kind}_${hasAddress(part) ? 'url' : 'base64'}`
  return { type, [type]: hasAddress(part) ? part.address : dataUrl(part.media) }
}

/** It counts the pixels of images and videos, and tokens of texts and of all together. */
function usageOf({ total_tokens: total, text_tokens: text }: Fields, contents: readonly Content[]): Usage {
  const media = [...kindsIn(contents)].filter((kind) => kind !== 'text')
  const [kind] = media
  if (!isCount(total) || !isCount(text) || text > total || media.length > 1) return measured(total)
  return measured(total, { text, ...(kind === undefined ? {} : { [kind]: total - text }) })
}
