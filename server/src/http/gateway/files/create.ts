/** `POST /v1/files`: a form with one file, stored as it arrives. The fields may come before or after the file. */
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
  /** Called after each chunk of a form; shared by all arriving forms. */
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
  // The file has at least the announced bytes minus what may surround it.
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
    // Checked before the bytes of a large file, if the field came first.
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
    for await (const chunk of bytes) await this.#file.write(chunk)
  }
}

async function fieldText(name: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of bytes) {
    length += chunk.length
    if (length > MAX_FIELD_BYTES) throw refused(name, `has more than ${MAX_FIELD_BYTES} bytes`)
    chunks.push(chunk)
  }
  const text = utf8(Buffer.concat(chunks))
  if (text === undefined) throw refused(name, 'is not UTF-8 text')
  return text
}

function refused(name: string, words: string): Fault {
  return new Fault('invalid_parameter', `${name} ${words}.`, { param: name })
}
