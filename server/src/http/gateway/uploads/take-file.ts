/** Writes one file of a request to the disk, and reads its image header on the way. */
import { Fault } from '#core/fault/fault.ts'
import type { GivenFile, GivenPictures } from '#core/image/given.ts'
import { HeaderScan, type ScannedHeader } from '#core/image/header-scan.ts'
import type { Limits } from '#core/settings.ts'
import type { ParsedJson } from '#ports/json.ts'
import type { Upload, Uploads, UploadWriter } from '#ports/uploads.ts'

export interface TakenFile {
  /** The caller's name for it: `image`, `mask` or `markup`. */
  readonly field: 'image' | 'mask' | 'markup'
  readonly upload: Upload
  readonly header: ScannedHeader
}

/** The fields and images of an edit, and all files that were taken. */
export interface EditParts {
  readonly body: unknown
  /** Exact numbers of a JSON body; a form has only texts, which are exact. */
  readonly exact: ParsedJson['exact']
  readonly given: GivenPictures
  readonly taken: readonly TakenFile[]
}

export interface TakingOutside {
  readonly uploads: Uploads
  readonly limits: Limits
  /** Called after each chunk of a form; shared by all arriving forms. */
  readonly yieldOnArrival: () => Promise<unknown>
}

/** `called` is its name in faults, where the field alone would not say which of several it is. */
export async function takeFile(
  source: AsyncIterable<Uint8Array>,
  field: TakenFile['field'],
  { uploads, limits }: TakingOutside,
  called: string = field,
): Promise<TakenFile> {
  const refuse: Refuse = (code, words) => {
    throw new Fault(code, `${called} ${words}.`, { param: field })
  }
  const writer = await uploads.create()
  try {
    const header = await write(source, writer, limits, refuse)
    return { field, upload: await writer.finish(), header }
  } catch (error) {
    await writer.discard()
    throw error
  }
}

type Refuse = (code: 'body_too_large' | 'invalid_image_file', words: string) => never

async function write(
  source: AsyncIterable<Uint8Array>,
  writer: UploadWriter,
  limits: Limits,
  refuse: Refuse,
): Promise<ScannedHeader> {
  const scan = new HeaderScan(limits)
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > limits.editFileBytes) refuse('body_too_large', `is larger than ${limits.editFileBytes} bytes`)
    const problem = scan.push(chunk)
    if (problem !== undefined) refuse('invalid_image_file', problem)
    await writer.write(chunk)
  }
  if (bytes === 0) refuse('invalid_image_file', 'is empty: send the bytes of an image, or leave it out')
  const header = scan.end()
  return typeof header === 'string' ? refuse('invalid_image_file', header) : header
}

export function givenFile({ upload, header }: TakenFile): GivenFile {
  return { kind: 'file', sha256: upload.sha256, bytes: upload.size, ...header }
}
