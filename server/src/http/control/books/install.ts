/** What is wrong with an install as a whole: PostgreSQL, its nodes beside one another, and the answers that callers get. */
import type { NewestRequests } from '#ports/attention-figures.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import type { ServerSettings } from '#ports/store-server.ts'
import type { NodeRecord } from '#ports/upkeep.ts'
import { check, count, type Check } from './check.ts'

export interface InstallFigures {
  readonly nodes: readonly NodeRecord[]
  /** Undefined: the database runs inside the process. */
  readonly server: ServerSettings | undefined
  /** Undefined: no request log is kept. */
  readonly newest: NewestRequests | undefined
}

export function durabilityCheck({ server }: InstallFigures): Check {
  if (server === undefined)
    return check('durability', 'ok', 'the built-in database survives a killed process, not a power cut')
  const off = [
    ...(server.fsync ? [] : ['fsync']),
    ...(server.synchronousCommit === 'off' ? ['synchronous_commit'] : []),
  ]
  return off.length === 0
    ? check('durability', 'ok', 'PostgreSQL acknowledges a record once it is on disk', { off: 0 })
    : check(
        'durability',
        'fail',
        `PostgreSQL has ${off.join(' and ')} = off, so a crash loses usage records that were acknowledged: turn it on`,
        { off: off.length },
      )
}

interface DescribedNode extends NodeRecord {
  readonly setup: NodeSetup
}

/** Nodes of earlier versions say nothing of their setup. */
function describedIn({ nodes }: InstallFigures): readonly DescribedNode[] {
  return nodes.filter((node): node is DescribedNode => node.state === 'alive' && node.setup !== undefined)
}

export function connectionsCheck(figures: InstallFigures): Check | undefined {
  const { server } = figures
  if (server === undefined) return undefined
  const nodes = describedIn(figures)
  const most = nodes.reduce((sum, { setup }) => sum + setup.connections, 0)
  const numbers = { most, max: server.maxConnections }
  const says = `${count(nodes.length, 'node')} can open ${most} connections, PostgreSQL allows ${server.maxConnections}`
  return most <= server.maxConnections
    ? check('connections', 'ok', says, numbers)
    : check(
        'connections',
        'warn',
        `${says}: when all are busy, some are refused. Raise max_connections, or put a connection pooler before it`,
        numbers,
      )
}

export function agreementCheck(figures: InstallFigures): Check {
  const nodes = describedIn(figures)
  const [first] = nodes
  // Digests of another secret can't be compared: while TORANA_SECRET changes, each group is compared by itself.
  const other = nodes.find(({ setup }) => {
    const alike = nodes.find((one) => one.setup.keyedBy === setup.keyedBy)
    return alike !== undefined && partsThatDiffer(alike.setup, setup).length > 0
  })
  if (first === undefined || other === undefined)
    return check(
      'agreement',
      'ok',
      `${count(nodes.length, 'node')} compared: the same configuration and prices`,
      {
        different: 0,
      },
    )
  const alike = nodes.find(({ setup }) => setup.keyedBy === other.setup.keyedBy) ?? first
  const parts = partsThatDiffer(alike.setup, other.setup)
  const versions = new Set(nodes.map(({ version }) => version))
  const upgrade =
    versions.size === 1 ? '' : `. They run ${[...versions].join(' and ')}: look again after the upgrade`
  return check(
    'agreement',
    'warn',
    `node ${other.id} on ${other.host} has other ${parts.join(', ')} than ${alike.id} on ${alike.host}, and each bills and serves by its own: give them the same torana.yaml${upgrade}`,
    { different: parts.length },
  )
}

function partsThatDiffer(a: NodeSetup, b: NodeSetup): readonly string[] {
  return Object.keys(a.configuration)
    .filter((part) => a.configuration[part] !== b.configuration[part])
    .sort()
}

export function placesCheck(figures: InstallFigures): Check {
  const places = Map.groupBy(
    describedIn(figures).filter(({ setup }) => setup.blobPlace !== null),
    ({ setup }) => setup.blobPlace,
  )
  const numbers = { places: places.size }
  if (places.size <= 1)
    return check('places', 'ok', 'all nodes keep images and batch files in one place', numbers)
  const hosts = Array.from(places.values(), (nodes) => nodes.map(({ host }) => host).join(', '))
  return check(
    'places',
    'fail',
    `nodes keep images and batch files in ${places.size} places (${hosts.join(' | ')}), so one does not find what another made: give all of them the same ASSETS_URL, a bucket or a shared folder`,
    numbers,
  )
}

/** Fewer requests say nothing about a share. */
const REQUESTS_MIN = 10
/** As the alert ToranaErrors has it. */
const FAILED_SHARE_TO_LOOK_AT = 0.05
/** From here on callers would call it an outage. */
const FAILED_SHARE_THAT_FAILS = 0.5

export function requestsCheck({ newest }: InstallFigures): Check | undefined {
  if (newest === undefined) return undefined
  const { requests, failures } = newest
  const failed = failures.reduce((sum, one) => sum + one.requests, 0)
  const share = requests === 0 ? 0 : failed / requests
  const faults = failures.slice(0, 3).map((one) => `${one.requests} ${one.fault}`)
  const numbers = { requests, failed }
  const says = `${failed} of the newest ${count(requests, 'request')} of 15 minutes failed`
  if (requests < REQUESTS_MIN || share < FAILED_SHARE_TO_LOOK_AT)
    return check('requests', 'ok', says, numbers)
  return check(
    'requests',
    share < FAILED_SHARE_THAT_FAILS ? 'warn' : 'fail',
    `${says}: ${faults.join(', ')}. See torana requests, and docs/errors.md for each`,
    numbers,
  )
}
