/** Where pictures are kept: a folder, or a bucket with a disk before it. */
import { join } from 'node:path'
import type { Limits, Settings } from '#core/settings.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import { ENDLESS_ROOM, type DiskRoom } from '#ports/disk-room.ts'
import { MeasuredDisk } from '#runtime/disk-room.ts'
import { DiskBlobs } from '#stores/blobs/disk.ts'
import { folderId } from '#stores/blobs/place.ts'
import { S3Blobs } from '#stores/blobs/s3.ts'
import { SpooledBlobs } from '#stores/blobs/spooled.ts'

export interface Blobs {
  readonly store: BlobStore
  /** The one that outlives the node, without the disk before it. */
  readonly kept: BlobStore
  readonly spooled: SpooledBlobs | undefined
  /** On the disk that `kept` is on; endless where that is a bucket. */
  readonly room: DiskRoom
  /** Equal on nodes that share the place. Undefined: it could not be marked. */
  readonly place: string | undefined
}

export async function openBlobs(
  { assets, dataDir }: Pick<Settings, 'assets' | 'dataDir'>,
  { diskReserveBytes }: Pick<Limits, 'diskReserveBytes'>,
  clock?: Pick<Clock, 'nowMs'>,
): Promise<Blobs> {
  if (assets.kind === 'file') {
    const room = new MeasuredDisk(assets.folder, diskReserveBytes)
    const store = await DiskBlobs.open(assets.folder, room, clock)
    return { store, kept: store, spooled: undefined, room, place: await folderId(assets.folder) }
  }
  const spool = await DiskBlobs.open(
    join(dataDir, 'assets-spool'),
    new MeasuredDisk(dataDir, diskReserveBytes),
    clock,
  )
  const kept = new S3Blobs(assets)
  const spooled = new SpooledBlobs(kept, spool)
  const { endpoint = assets.region, bucket, prefix } = assets
  const place = `s3 ${endpoint} ${bucket}/${prefix}`
  return { store: spooled, kept, spooled, room: ENDLESS_ROOM, place }
}
