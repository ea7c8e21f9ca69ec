/** What a node finds around it: its clock, the space on its disk, and the place where images are kept. */
import type { DiskSpace } from '#ports/disk-room.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import { check, type Check } from './check.ts'

export interface NodeSurroundings {
  /** Undefined: the system does not tell. */
  readonly disk: DiskSpace | undefined
  readonly images: {
    /** Why the place can't be used; undefined: it answers. */
    readonly trouble: string | undefined
    /** Images on the disk of this node that wait for it. */
    readonly waiting: number
  }
}

/** Clocks that are kept by NTP differ by milliseconds. */
const SKEW_TO_LOOK_AT_MS = 2000
/** From here on records fall into the wrong hour, and budgets begin and end at the wrong time. */
const SKEW_THAT_FAILS_MS = 60_000

export function clockCheck({ clockSkewMs }: NodeFigures): Check {
  if (clockSkewMs === undefined) return check('clock', 'ok', 'not compared yet')
  const skewMs = Math.abs(clockSkewMs)
  const figures = { skew_seconds: clockSkewMs / 1000 }
  const direction = clockSkewMs > 0 ? 'ahead of' : 'behind'
  if (skewMs < SKEW_TO_LOOK_AT_MS) return check('clock', 'ok', 'agrees with that of PostgreSQL', figures)
  return check(
    'clock',
    skewMs < SKEW_THAT_FAILS_MS ? 'warn' : 'fail',
    `${(skewMs / 1000).toFixed(1)} s ${direction} that of PostgreSQL: records and budgets get the wrong time. Let NTP set it`,
    figures,
  )
}

const GIB = 1024 ** 3
/** An hour of spooled records of a busy node, and its uploads. */
const LITTLE_SPACE_BYTES = GIB
const LITTLE_SPACE_SHARE = 0.05

export function spaceCheck({ disk }: NodeSurroundings): Check {
  if (disk === undefined) return check('space', 'ok', 'the system does not tell the free space')
  const { freeBytes, sizeBytes } = disk
  const says = `${(freeBytes / GIB).toFixed(1)} of ${(sizeBytes / GIB).toFixed(1)} GiB are free on the disk of the data folder`
  const isLittle = freeBytes < LITTLE_SPACE_BYTES || freeBytes < sizeBytes * LITTLE_SPACE_SHARE
  return check('space', isLittle ? 'warn' : 'ok', says, { free_bytes: freeBytes, size_bytes: sizeBytes })
}

export function imagesCheck({ images: { trouble, waiting } }: NodeSurroundings): Check {
  const figures = { waiting }
  const waits = waiting === 0 ? '' : `; ${waiting} images wait on the disk of this node`
  if (trouble !== undefined)
    return check(
      'images',
      'warn',
      `the image store (ASSETS_URL) can not be used: ${trouble}${waits}`,
      figures,
    )
  return check('images', waiting === 0 ? 'ok' : 'warn', `the image store answers${waits}`, figures)
}
