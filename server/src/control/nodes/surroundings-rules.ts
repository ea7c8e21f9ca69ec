/** The doctor on the surroundings of a node: clock, disk, certificate, stores, and the deployments that it can call. */
import { endingOf, type Validity } from '#core/node/certificate-validity.ts'
import type { DeploymentStateName } from '#core/schedule/scheduler.ts'
import type { DiskSpace } from '#ports/disk-room.ts'
import { MAX_CLOCK_SKEW_MS, type LimiterMemory, type NodeFigures } from '#ports/upkeep.ts'
import { count, fail, finding, ok, warn, type Finding } from './check-rules.ts'
import type { ListedNode } from './queries.ts'
import { DAY_MS } from '../shared/times.ts'

export interface NodeSurroundings {
  /** Undefined: the system does not report it. */
  readonly disk: DiskSpace | undefined
  readonly images: {
    /** Why the image store can't be used. Undefined: it answers. */
    readonly trouble: string | undefined
    /** Images that wait on the disk of this node for the image store. */
    readonly waiting: number
  }
  /** Undefined without TLS. */
  readonly certificate: Validity | undefined
  /** Whether connections to PostgreSQL change sessions between statements. Undefined: it does not answer, or is built in. */
  readonly isPoolerUnfit: boolean | undefined
  /** Undefined: Redis does not answer, does not say, or is not configured. */
  readonly limiterMemory: LimiterMemory | undefined
  /** The vector cache that all nodes share. Undefined without CACHE_URL. */
  readonly cache: { readonly trouble: string | undefined } | undefined
  readonly models: readonly ModelSurroundings[]
}

interface ModelSurroundings {
  readonly model: string
  readonly deployments: readonly {
    readonly id: string
    readonly state: DeploymentStateName
    /** Why it is in that state. Undefined: not known. */
    readonly reason: string | undefined
  }[]
}

/** Clock skew that warns: clocks kept by NTP differ by milliseconds. */
const WARNED_SKEW_MS = 2000

/** The machine of this node, then those of the others. */
export function clockCheck({ clockSkewMs }: NodeFigures, nodes: readonly ListedNode[]): Finding {
  const figures = clockSkewMs === undefined ? {} : { skew_seconds: clockSkewMs / 1000 }
  const other = nodes.find((node) => node.state === 'alive' && isWrong(node.clock_skew_ms))
  if (other !== undefined && !isWrong(clockSkewMs))
    return fail(`on ${other.host} (node ${other.id}), ${offBy(other.clock_skew_ms ?? 0)}: ${EFFECT}`, figures)
  if (clockSkewMs === undefined) return ok('not checked yet')
  if (isWrong(clockSkewMs)) return fail(`${offBy(clockSkewMs)}: ${EFFECT}`, figures)
  return Math.abs(clockSkewMs) < WARNED_SKEW_MS
    ? ok('agrees with that of the database', figures)
    : warn(`${offBy(clockSkewMs)}. Let NTP set it`, figures)
}

const EFFECT =
  'the node goes by the clock of the database, but does no chores, and what the machine signs or logs has the wrong time. Let NTP set it'

function isWrong(skewMs: number | null | undefined): boolean {
  return Math.abs(skewMs ?? 0) > MAX_CLOCK_SKEW_MS
}

function offBy(skewMs: number): string {
  return `${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of the database`
}

const GIB = 1024 ** 3
/** Free space that an hour of spooled records of a busy node needs, with its uploads. */
const MIN_FREE_BYTES = GIB
const MIN_FREE_SHARE = 0.05

export function spaceCheck({ disk }: NodeSurroundings): Finding {
  if (disk === undefined) return ok('the system does not report free space')
  const { freeBytes, sizeBytes } = disk
  const says = `${(freeBytes / GIB).toFixed(1)} of ${(sizeBytes / GIB).toFixed(1)} GiB are free on the disk of the data folder`
  const isLittle = freeBytes < MIN_FREE_BYTES || freeBytes < sizeBytes * MIN_FREE_SHARE
  return finding(isLittle ? 'warn' : 'ok', says, { free_bytes: freeBytes, size_bytes: sizeBytes })
}

export function imagesCheck({ images: { trouble, waiting } }: NodeSurroundings): Finding {
  const figures = { waiting }
  const waits = waiting === 0 ? '' : `; ${waiting} images wait on the disk of this node`
  if (trouble !== undefined)
    return warn(`the image store (ASSETS_URL) can not be used: ${trouble}${waits}`, figures)
  return finding(waiting === 0 ? 'ok' : 'warn', `the image store answers${waits}`, figures)
}

export function certificateCheck({ certificate }: NodeSurroundings, nowMs: number): Finding | undefined {
  if (certificate === undefined) return undefined
  const { endsAtMs } = certificate
  const days = (endsAtMs - nowMs) / DAY_MS
  const ending = endingOf(certificate, nowMs)
  const figures = { days_left: Math.round(days * 10) / 10 }
  const at = new Date(endsAtMs).toISOString()
  if (ending === 'over') return fail(`ended at ${at}: clients refuse it. Replace TORANA_TLS_CERT`, figures)
  const says = `ends at ${at}, in ${days.toFixed(1)} days`
  if (ending === 'far') return ok(says, figures)
  return finding(ending === 'near' ? 'warn' : 'fail', `${says}: renew TORANA_TLS_CERT`, figures)
}

export function cacheCheck({ cache }: NodeSurroundings): Finding {
  if (cache === undefined) return ok('CACHE_URL is not set: each node has a vector cache of its own')
  return cache.trouble === undefined
    ? ok('the vector cache (CACHE_URL) answers')
    : warn(
        `the vector cache (CACHE_URL) can not be used, so nodes pay for texts that others have cached: ${cache.trouble}`,
      )
}

/** States in which a deployment gets no requests. */
const UNUSABLE: ReadonlySet<DeploymentStateName> = new Set([
  'drained',
  'held-back',
  'probing',
  'ejected',
  'quarantined',
])

export function modelsCheck({ models }: NodeSurroundings): Finding {
  const isUsable = ({ state }: { readonly state: DeploymentStateName }): boolean => !UNUSABLE.has(state)
  const refused = models.filter(({ deployments }) => !deployments.some(isUsable))
  // An operator drained it on purpose.
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
    return fail(says, figures)
  }
  const [one] = idle
  if (one === undefined) return ok(`${count(models.length, 'model')}, all deployments usable`, figures)
  const reason = one.reason === undefined ? '' : ` (${one.reason})`
  const others = idle.length > 1 ? `, and ${idle.length - 1} more` : ''
  const says = `${one.id} is ${one.state}${reason}${others}; other deployments serve its requests. See torana deployments`
  return warn(says, figures)
}
