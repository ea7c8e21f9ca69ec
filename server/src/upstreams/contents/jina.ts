/** Jina's `/v1/embeddings`: an object with one field for each content, and one part in each content. */
import { stringOf } from './base64.ts'
import { onlyPart, openaiFields, readOpenai, type ContentWire } from './wire.ts'

export const jina: ContentWire = {
  isOpenai: true,
  inputType: 'taken',
  outputType: true,
  extraFields: true,
  path: () => '/embeddings',
  body: (call, contents) => ({
    ...openaiFields(call),
    input: contents.map((content) => {
      const part = onlyPart(content)
      return { [part.kind === 'file' ? 'pdf' : part.kind]: stringOf(part) }
    }),
  }),
  read: readOpenai,
}
