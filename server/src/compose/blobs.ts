/** Where pictures are kept: a folder, or a bucket with a disk before it. */
import { join } from 'node:path'
import type { Settings } from '#core/settings.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { S3Blobs } from '#stores/blobs/s3.ts'
import { SpooledBlobs } from '#stores/blobs/spooled.ts'

export interface Blobs {
  readonly store: BlobStore
  /** The one that outlives the node, without the disk before it. */
  readonly kept: BlobStore
  readonly spooled: SpooledBlobs | undefined
}

export async function openBlobs({ assets, dataDir }: Pick<Settings, 'assets' | 'dataDir'>): Promise<Blobs> {
  if (assets.kind === 'file') {
    const store = await DiskBlobs.open(assets.folder)
    return { store, kept: store, spooled: undefined }
  }
  const spool = await DiskBlobs.open(join(dataDir, 'assets-spool'))
  const kept = new S3Blobs(assets)
  const spooled = new SpooledBlobs(kept, spool)
  return { store: spooled, kept, spooled }
}
