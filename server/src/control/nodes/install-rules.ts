/** The doctor on the install as a whole: PostgreSQL, its nodes compared with one another, and the answers that callers get. */
import type { NodeSetup } from '#ports/node-setup.ts'
import { count, fail, finding, ok, warn, type Finding } from './check-rules.ts'
import type { InstallFigures, ListedNode } from './queries.ts'

export function durabilityCheck({ server }: InstallFigures): Finding {
  if (server === undefined) return ok('the built-in database survives a killed process, not a power cut')
  const off = [
    ...(server.fsync ? [] : ['fsync']),
    ...(server.full_page_writes ? [] : ['full_page_writes']),
    ...(server.synchronous_commit === 'off' ? ['synchronous_commit'] : []),
  ]
  return off.length === 0
    ? ok('PostgreSQL acknowledges a record once it is on disk', { off: 0 })
    : fail(
        `PostgreSQL has ${off.join(' and ')} = off, so a crash loses usage records that were acknowledged: turn ${off.length === 1 ? 'it' : 'them'} on`,
        { off: off.length },
      )
}

interface DescribedNode extends ListedNode {
  readonly setup: NodeSetup
}

/** Nodes of earlier versions do not report their setup. */
function describedIn({ nodes }: InstallFigures): readonly DescribedNode[] {
  return nodes.filter((node): node is DescribedNode => node.state === 'alive' && node.setup !== null)
}

export function connectionsCheck(figures: InstallFigures): Finding | undefined {
  const { server } = figures
  if (server === undefined) return undefined
  const nodes = describedIn(figures)
  const most = nodes.reduce((sum, { setup }) => sum + setup.connections, 0)
  const numbers = { most, max: server.max_connections }
  const says = `${count(nodes.length, 'node')} can open ${most} connections, PostgreSQL allows ${server.max_connections}`
  return most <= server.max_connections
    ? ok(says, numbers)
    : warn(
        `${says}: when all are busy, some are refused. Raise max_connections, or put a connection pooler before it`,
        numbers,
      )
}

export function agreementCheck(figures: InstallFigures): Finding {
  const nodes = describedIn(figures)
  const [first] = nodes
  // Digests of different secrets can't be compared: while TORANA_SECRET changes, each group is compared separately.
  const other = nodes.find(({ setup }) => {
    const alike = nodes.find((one) => one.setup.keyedBy === setup.keyedBy)
    return alike !== undefined && partsThatDiffer(alike.setup, setup).length > 0
  })
  if (first === undefined || other === undefined)
    return ok(`${count(nodes.length, 'node')} compared: the same configuration and prices`, {
      different: 0,
    })
  const alike = nodes.find(({ setup }) => setup.keyedBy === other.setup.keyedBy) ?? first
  const parts = partsThatDiffer(alike.setup, other.setup)
  const versions = new Set(nodes.map(({ version }) => version))
  const upgrade =
    versions.size === 1 ? '' : `. They run ${[...versions].join(' and ')}: look again after the upgrade`
  return warn(
    `node ${other.id} on ${other.host} has other ${parts.join(', ')} than ${alike.id} on ${alike.host}, and each bills and serves by its own: give them the same torana.yaml${upgrade}`,
    { different: parts.length },
  )
}

function partsThatDiffer(a: NodeSetup, b: NodeSetup): readonly string[] {
  return Object.keys(a.configuration)
    .filter((part) => a.configuration[part] !== b.configuration[part])
    .sort()
}

export function placesCheck(figures: InstallFigures): Finding {
  const places = Map.groupBy(
    describedIn(figures).filter(({ setup }) => setup.blobPlace !== null),
    ({ setup }) => setup.blobPlace,
  )
  const numbers = { places: places.size }
  if (places.size <= 1) return ok('all nodes keep images and batch files in one place', numbers)
  const hosts = Array.from(places.values(), (nodes) => nodes.map(({ host }) => host).join(', '))
  return fail(
    `nodes keep images and batch files in ${places.size} places (${hosts.join(' | ')}), so one does not find what another made: give all of them the same ASSETS_URL, a bucket or a shared folder`,
    numbers,
  )
}

/** Of fewer requests, one failure is more than the share that warns: half of them must have failed. */
const MIN_REQUESTS = 10
/** Share of failures that warns, as in the alert ToranaErrors. */
const WARNED_SHARE = 0.05
/** Share of failures that callers would call an outage. */
const FAILED_SHARE = 0.5

export function requestsCheck({ newest: { requests, failures } }: InstallFigures): Finding {
  const failed = failures.reduce((sum, one) => sum + one.requests, 0)
  const share = failed / requests
  const faults = failures.slice(0, 3).map((one) => `${one.requests} ${one.fault}`)
  const figures = { requests, failed }
  const says = `${failed} of the newest ${count(requests, 'request')} of 15 minutes failed`
  if (failed === 0) return ok(says, figures)
  const codes = `${says}: ${faults.join(', ')}`
  const isFew = requests < MIN_REQUESTS
  if (share < (isFew ? FAILED_SHARE : WARNED_SHARE)) return ok(codes, figures)
  return finding(
    isFew || share < FAILED_SHARE ? 'warn' : 'fail',
    `${codes}. See torana requests, and docs/errors.md for each`,
    figures,
  )
}
