/** Infinity's `modality`: one field says what all inputs of a call are. */
import { stringOf } from './base64.ts'
import { onlyPart, openaiFields, readOpenai, Unsendable, unsendable, type ContentWire } from './wire.ts'

export const modality: ContentWire = {
  isOpenai: true,
  inputType: true,
  extraFields: true,
  path: () => '/embeddings',
  body: (call, contents) => {
    const parts = contents.map(onlyPart)
    const [kind = 'text', ...more] = new Set(parts.map((part) => part.kind))
    if (more.length > 0) throw new Unsendable('parts of several kinds can not be sent together on this wire')
    if (kind === 'video' || kind === 'file') throw unsendable(kind)
    return { ...openaiFields(call), input: parts.map(stringOf), modality: kind }
  },
  read: readOpenai,
}
