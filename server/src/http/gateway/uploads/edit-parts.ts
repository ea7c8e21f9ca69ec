import type { GivenFile, GivenPictures } from '#core/image/given.ts'
import type { ParsedJson } from '#ports/json.ts'
import type { TakenFile } from './take-file.ts'

/** Everything of an edit but its pictures, and these; the files of all that were taken. */
export interface EditParts {
  readonly body: unknown
  /** A form has texts only, which are exact by themselves. */
  readonly exact: ParsedJson['exact']
  readonly given: GivenPictures
  readonly taken: readonly TakenFile[]
}

export function givenFile({ upload, header }: TakenFile): GivenFile {
  return { kind: 'file', sha256: upload.sha256, bytes: upload.size, ...header }
}
