/** A form with files as defined by RFC 7578. Its length is known before the first byte of a file is read. */
import { randomBytes } from 'node:crypto'
import type { StreamedBody } from '../connect/sent-body.ts'
import { exactly } from '../connect/exact-bytes.ts'

export interface FormFile {
  readonly field: string
  readonly filename: string
  readonly contentType: string
  readonly size: number
  open(): AsyncIterable<Uint8Array>
}

export interface Form {
  readonly contentType: string
  readonly body: StreamedBody
}

const encoder = new TextEncoder()

/** Texts come first, so that a server knows the request when the first file comes. */
export function multipartForm(
  texts: readonly (readonly [field: string, value: string])[],
  files: readonly FormFile[],
): Form {
  // 128 random bits: no sender can guess it and put it into a text or a file.
  const boundary = `torana-${randomBytes(16).toString('hex')}`
  const opening = encoder.encode(
    texts.map(([field, value]) => `${partHead(boundary, field)}\r\n\r\n${value}\r\n`).join(''),
  )
  const parts = files.map((file) => ({ head: encoder.encode(fileHead(boundary, file)), file }))
  const closing = encoder.encode(`--${boundary}--\r\n`)
  let size = opening.length + closing.length
  for (const { head, file } of parts) size += head.length + file.size + LINE_END.length
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: {
      size,
      async *open() {
        yield opening
        for (const { head, file } of parts) {
          yield head
          yield* exactly(file)
          yield LINE_END
        }
        yield closing
      },
    },
  }
}

const LINE_END = encoder.encode('\r\n')

function partHead(boundary: string, field: string): string {
  return `--${boundary}\r\ncontent-disposition: form-data; name="${quoted(field)}"`
}

function fileHead(boundary: string, { field, filename, contentType }: FormFile): string {
  return `${partHead(boundary, field)}; filename="${quoted(filename)}"\r\ncontent-type: ${contentType}\r\n\r\n`
}

/** Escapes the three characters that would end a name, as browsers do. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
