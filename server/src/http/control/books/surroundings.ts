/** What a node finds around it: its clock, its disk, its certificate, its stores, and the deployments it can call. */
import { endingOf, type Validity } from '#core/certificate-validity.ts'
import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import type { DiskSpace } from '#ports/disk-room.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import { check, count, type Check } from './check.ts'

export interface NodeSurroundings {
  /** Undefined: the system does not tell. */
  readonly disk: DiskSpace | undefined
  readonly images: {
    /** Why the place can't be used; undefined: it answers. */
    readonly trouble: string | undefined
    /** Images on the disk of this node that wait for it. */
    readonly waiting: number
  }
  /** Undefined without TLS. */
  readonly certificate: Validity | undefined
  /** The vector cache of all nodes; undefined without CACHE_URL. */
  readonly cache: { readonly trouble: string | undefined } | undefined
  readonly models: readonly ModelSurroundings[]
}

interface ModelSurroundings {
  readonly model: string
  readonly deployments: readonly {
    readonly id: string
    readonly state: DeploymentStateName
    /** Why it is in that state, where it is known. */
    readonly reason: string | undefined
  }[]
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
  if (skewMs < SKEW_TO_LOOK_AT_MS) return check('clock', 'ok', 'agrees with that of the database', figures)
  return check(
    'clock',
    skewMs < SKEW_THAT_FAILS_MS ? 'warn' : 'fail',
    `${(skewMs / 1000).toFixed(1)} s ${direction} that of the database: records and budgets get the wrong time. Let NTP set it`,
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

const DAY_MS = 86_400_000

export function certificateCheck({ certificate }: NodeSurroundings, nowMs: number): Check | undefined {
  if (certificate === undefined) return undefined
  const { endsAtMs } = certificate
  const days = (endsAtMs - nowMs) / DAY_MS
  const ending = endingOf(certificate, nowMs)
  const figures = { days_left: Math.round(days * 10) / 10 }
  const at = new Date(endsAtMs).toISOString()
  if (ending === 'over')
    return check('certificate', 'fail', `ended at ${at}: clients refuse it. Replace TORANA_TLS_CERT`, figures)
  const says = `ends at ${at}, in ${days.toFixed(1)} days`
  if (ending === 'far') return check('certificate', 'ok', says, figures)
  return check('certificate', ending === 'near' ? 'warn' : 'fail', `${says}: renew TORANA_TLS_CERT`, figures)
}

export function cacheCheck({ cache }: NodeSurroundings): Check {
  if (cache === undefined)
    return check('cache', 'ok', 'CACHE_URL is not set: each node has a vector cache of its own')
  return cache.trouble === undefined
    ? check('cache', 'ok', 'the vector cache (CACHE_URL) answers')
    : check(
        'cache',
        'warn',
        `the vector cache (CACHE_URL) can not be used, so nodes pay for texts that others have cached: ${cache.trouble}`,
      )
}

/** In these states a deployment gets no requests. */
const UNUSABLE: ReadonlySet<DeploymentStateName> = new Set([
  'drained',
  'held-back',
  'probing',
  'ejected',
  'quarantined',
])

export function modelsCheck({ models }: NodeSurroundings): Check {
  const isUsable = ({ state }: { readonly state: DeploymentStateName }): boolean => !UNUSABLE.has(state)
  const refused = models.filter(({ deployments }) => !deployments.some(isUsable))
  // A drained deployment is what an operator wants.
  const idle = models.flatMap(({ deployments }) =>
    deployments.filter((one) => !isUsable(one) && one.state !== 'drained'),
  )
  const figures = { models: models.length, refused: refused.length, unusable_deployments: idle.length }
  const [first] = refused
  if (first !== undefined) {
    const states = first.deployments.map(({ id, state, reason }) =>
      reason === undefined ? `${id} is ${state}` : `${id} is ${state} (${reason})`,
    )
    const why = states.length === 0 ? 'it has no deployment' : states.join(', ')
    const more = refused.length > 1 ? `; and ${count(refused.length - 1, 'more model')}` : ''
    const says = `this node refuses every request for ${first.model}: ${why}${more}. See torana deployments`
    return check('models', 'fail', says, figures)
  }
  const [one] = idle
  if (one === undefined)
    return check('models', 'ok', `${count(models.length, 'model')}, all deployments usable`, figures)
  const reason = one.reason === undefined ? '' : ` (${one.reason})`
  const others = idle.length > 1 ? `, and ${idle.length - 1} more` : ''
  const says = `${one.id} is ${one.state}${reason}${others}; other deployments serve its requests. See torana deployments`
  return check('models', 'warn', says, figures)
}
