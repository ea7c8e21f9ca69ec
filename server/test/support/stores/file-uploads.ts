import type { FileUpload, FileUploads, PartBounds, UploadPart } from '#ports/file-uploads.ts'

/** Uploads in memory, gone with the process. */
export class MemoryFileUploads implements FileUploads {
  readonly #uploads = new Map<string, FileUpload>()
  readonly #parts = new Map<string, UploadPart>()

  async begin(upload: FileUpload): Promise<void> {
    if (!this.#uploads.has(upload.id)) this.#uploads.set(upload.id, upload)
  }

  async find(id: string, project: string): Promise<FileUpload | undefined> {
    const upload = this.#uploads.get(id)
    return upload?.project === project ? upload : undefined
  }

  async addPart(part: UploadPart, { maxParts, maxBytes }: PartBounds): ReturnType<FileUploads['addPart']> {
    if (this.#uploads.get(part.uploadId)?.state !== 'pending') return 'over'
    const others = this.#partsOf(part.uploadId).filter(({ id }) => id !== part.id)
    const bytes = others.reduce((sum, other) => sum + other.bytes, part.bytes)
    if (others.length >= maxParts || bytes > maxBytes) return 'too-much'
    this.#parts.set(part.id, part)
    return 'added'
  }

  async parts(id: string): Promise<readonly UploadPart[]> {
    return this.#partsOf(id)
  }

  async pending(limit: number): Promise<readonly FileUpload[]> {
    return [...this.#uploads.values()].filter(({ state }) => state === 'pending').slice(0, limit)
  }

  async end(id: string, state: 'completed' | 'cancelled'): Promise<FileUpload | undefined> {
    const upload = this.#uploads.get(id)
    if (upload?.state !== 'pending') return upload
    const ended = { ...upload, state }
    this.#uploads.set(id, ended)
    return ended
  }

  #partsOf(id: string): readonly UploadPart[] {
    return [...this.#parts.values()].filter(({ uploadId }) => uploadId === id)
  }
}
