/** Files that arrive in parts, over an hour at the most: what is known of them until they are complete. */
import type { FileSegment } from './files.ts'

export interface FileUpload {
  /** `upload_` and a UUIDv7 without dashes. */
  readonly id: string
  readonly project: string
  readonly keyId: string
  /** The file that it becomes. It is begun before the upload, and all bytes lie under its name. */
  readonly fileId: string
  readonly filename: string
  /** Of all parts together, as announced. */
  readonly bytes: number
  /** Of the file. */
  readonly expiresAfterMs: number
  readonly createdAtMs: number
  /** From then on no part is taken. */
  readonly expiresAtMs: number
  readonly state: 'pending' | 'completed' | 'cancelled'
}

export interface UploadPart {
  /** `part_` and a UUIDv7 without dashes. */
  readonly id: string
  readonly uploadId: string
  readonly bytes: number
  readonly segments: readonly FileSegment[]
  readonly createdAtMs: number
}

export interface PartBounds {
  readonly maxParts: number
  /** Of all parts, those that were sent again included. */
  readonly maxBytes: number
}

/**
 * Every method is one atomic step and may be repeated after an answer was lost. An upload is gone with its file. Trouble with
 * the store rejects with `StoreAway`.
 */
export interface FileUploads {
  begin(upload: FileUpload): Promise<void>
  find(id: string, project: string): Promise<FileUpload | undefined>
  /** `over`: the upload is not pending any more. */
  addPart(part: UploadPart, bounds: PartBounds): Promise<'added' | 'over' | 'too-much'>
  /** In no order. */
  parts(id: string): Promise<readonly UploadPart[]>
  /** Uploads that still take parts, in no order, at most `limit`. */
  pending(limit: number): Promise<readonly FileUpload[]>
  /** The upload as it is afterwards: an upload that ended in another way before stays so. */
  end(id: string, state: 'completed' | 'cancelled'): Promise<FileUpload | undefined>
}
