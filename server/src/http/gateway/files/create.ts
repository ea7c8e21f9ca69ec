/** `POST /v1/files`: a form with one file, kept as it arrives. The fields may stand before or behind the file. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkFilename, checkPurpose, expiryMs } from '#core/files/create.ts'
import { Fault } from '#core/fault/fault.ts'
import type { StoredFile } from '#ports/files.ts'
import type { Key } from '#ports/keys.ts'
import { ArrivingFile, type FilesOutside } from '#request/files/arriving-file.ts'
import { FORM_BYTES, gatewayBounds } from '../../gate/bounds.ts'
import { refuseCompressed } from '../../gate/encoding.ts'
import { inviteBody } from '../../gate/unread.ts'
import { IncomingBytes } from '../uploads/incoming-bytes.ts'
import { MultipartParts, type Part } from '../uploads/multipart-parts.ts'
import { boundaryOf, labelOf, utf8, type PartLabel } from '../uploads/part-headers.ts'

export interface CreatingFiles extends FilesOutside {
  /** Called after each piece of a form; shared by all forms that arrive. */
  readonly yieldOnArrival: () => Promise<unknown>
}

const MAX_FIELD_BYTES = 1024

/** Azure's documentation spells them with dots. */
const FIELDS: ReadonlyMap<string, 'purpose' | 'anchor' | 'seconds'> = new Map([
  ['purpose', 'purpose'],
  ['expires_after[anchor]', 'anchor'],
  ['expires_after[seconds]', 'seconds'],
  ['expires_after.anchor', 'anchor'],
  ['expires_after.seconds', 'seconds'],
])

export async function createFile(
  request: IncomingMessage,
  response: ServerResponse,
  key: Key,
  outside: CreatingFiles,
): Promise<StoredFile> {
  refuseCompressed(request)
  const boundary = boundaryOf(request.headers['content-type'])
  const body = new IncomingBytes(request, {
    ...gatewayBounds(outside.limits)['POST /files'].form,
    idleMs: outside.limits.uploadIdleMs,
  })
  // The file has at least what the form announces, without what may be around it.
  const announcedBytes = Math.max(0, Number(request.headers['content-length'] ?? 0) - FORM_BYTES)
  const taking = new FileForm(key, announcedBytes, outside)
  try {
    inviteBody(request, response)
    for await (const part of new MultipartParts(body, boundary, outside.yieldOnArrival))
      await taking.take(part)
    return await taking.complete()
  } catch (error) {
    await taking.discard()
    throw error
  } finally {
    body.release()
  }
}

class FileForm {
  readonly #key: Key
  readonly #announcedBytes: number
  readonly #outside: CreatingFiles
  readonly #fields = new Map<'purpose' | 'anchor' | 'seconds', string>()
  #file: ArrivingFile | undefined
  #filename = ''

  constructor(key: Key, announcedBytes: number, outside: CreatingFiles) {
    this.#key = key
    this.#announcedBytes = announcedBytes
    this.#outside = outside
  }

  async take({ headers, bytes }: Part): Promise<void> {
    const label = labelOf(headers)
    if (label.name === 'file') return this.#takeFile(label, bytes)
    const field = FIELDS.get(label.name)
    if (field === undefined)
      throw refused(label.name, 'is not known here. Send file, purpose and expires_after only')
    if (this.#fields.has(field)) throw refused(label.name, 'was sent twice. Send one')
    this.#fields.set(field, await fieldText(label.name, bytes))
    // Before the bytes of a large file, if its sender was so kind.
    if (field === 'purpose') checkPurpose(this.#fields.get('purpose'))
  }

  async complete(): Promise<StoredFile> {
    const purpose = checkPurpose(this.#fields.get('purpose'))
    const expiresAfterMs = expiryMs(this.#fields.get('anchor'), this.#fields.get('seconds'))
    if (this.#file === undefined)
      throw new Fault('missing_parameter', 'file is missing. Send it as a file of the form.', {
        param: 'file',
      })
    return this.#file.complete(this.#filename, { purpose, expiresAfterMs })
  }

  async discard(): Promise<void> {
    await this.#file?.discard()
  }

  async #takeFile({ filename }: PartLabel, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.#file !== undefined) throw refused('file', 'was sent twice. Send one')
    this.#filename = checkFilename(filename)
    this.#file = await ArrivingFile.begin(this.#key, this.#announcedBytes, this.#outside)
    for await (const piece of bytes) await this.#file.write(piece)
  }
}

async function fieldText(name: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    length += piece.length
    if (length > MAX_FIELD_BYTES) throw refused(name, `has more than ${MAX_FIELD_BYTES} bytes`)
    pieces.push(piece)
  }
  const text = utf8(Buffer.concat(pieces))
  if (text === undefined) throw refused(name, 'is not UTF-8 text')
  return text
}

function refused(name: string, words: string): Fault {
  return new Fault('invalid_parameter', `${name} ${words}.`, { param: name })
}
