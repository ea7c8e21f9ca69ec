/** Files that arrive in parts, within an hour: their state until they are complete. */
import type { FileSegment } from './files.ts'
import type { WorkOwner } from './keys.ts'

export interface FileUpload extends WorkOwner {
  /** `upload_` and a UUIDv7 without dashes. */
  readonly id: string
  /** The file that the upload becomes. It is begun before the upload, and all bytes are stored under its name. */
  readonly fileId: string
  readonly filename: string
  /** Announced size of all parts together. */
  readonly bytes: number
  /** Retention of the file. */
  readonly expiresAfterMs: number
  readonly createdAtMs: number
  /** From this moment on no part is accepted. */
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
  /** Bound on all parts, including those sent again. */
  readonly maxBytes: number
}

/**
 * Every method is one atomic step and may be repeated after a lost answer. An upload is deleted with its file. Store
 * failures reject with `StoreUnreachable`.
 */
export interface FileUploads {
  begin(upload: FileUpload): Promise<void>
  find(id: string, project: string): Promise<FileUpload | undefined>
  /** `over`: the upload is no longer pending. */
  addPart(part: UploadPart, bounds: PartBounds): Promise<'added' | 'over' | 'too-much'>
  /** In no order. */
  parts(id: string): Promise<readonly UploadPart[]>
  /** Uploads that still accept parts, in no order, at most `limit`. */
  pending(limit: number): Promise<readonly FileUpload[]>
  /** The resulting upload: one that ended differently before keeps its state. */
  end(id: string, state: 'completed' | 'cancelled'): Promise<FileUpload | undefined>
}
