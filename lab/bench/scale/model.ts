/**
 * What a rate needs, from what was measured. Each second a part of an install works a fixed time for every process (group
 * commits, timers, polls) and a fixed time for every request. Two measured configurations give both; a third one checks them.
 */

/** CPU time of one request, µs, in one configuration. */
interface PartCosts {
  readonly gatewayUs: number
  readonly postgresUs: number
  readonly redisUs: number
}

type Part = keyof PartCosts

/** One measured configuration. */
export interface Measured extends PartCosts {
  readonly name: string
  readonly processes: number
  readonly perSecond: number
  readonly redisCommands: number
  readonly redisBytes: number
  /** PostgreSQL's write-ahead log, which its standby and its archive receive too. */
  readonly walBytes: number
  readonly ledgerRows: number
}

/** The work of one part: `perRequestUs` for each request, and `perProcessUs` each second for each process. */
interface Work {
  readonly perRequestUs: number
  readonly perProcessUs: number
}

export type FittedCosts = Readonly<Record<Part, Work>>

const PARTS: readonly Part[] = ['gatewayUs', 'postgresUs', 'redisUs']

/** Exact for both configurations, unless a process would cost less than nothing: then it costs nothing, and a request the mean. */
export function fitted(first: Measured, second: Measured): FittedCosts {
  return Object.fromEntries(PARTS.map((part) => [part, workOf(first, second, part)])) as Record<Part, Work>
}

function workOf(first: Measured, second: Measured, part: Part): Work {
  const [firstShare, secondShare] = [processShare(first), processShare(second)]
  const perProcessUs = (second[part] - first[part]) / (secondShare - firstShare)
  const perRequestUs = first[part] - perProcessUs * firstShare
  if (!(perProcessUs > 0)) return { perRequestUs: (first[part] + second[part]) / 2, perProcessUs: 0 }
  if (perRequestUs <= 0) throw new Error(`${part}: the noise is larger than what is measured`)
  return { perRequestUs, perProcessUs }
}

/** Seconds of a process for each request. */
function processShare({ processes, perSecond }: Pick<Measured, 'processes' | 'perSecond'>): number {
  return processes / perSecond
}

/** How far the predicted CPU time of a request is off in another configuration: 0.1 is ten per cent too much. */
export function errorsOf(work: FittedCosts, checked: Measured): Readonly<Record<Part, number>> {
  const errors = PARTS.map((part) => {
    const { perRequestUs, perProcessUs } = work[part]
    return [part, (perRequestUs + perProcessUs * processShare(checked)) / checked[part] - 1]
  })
  return Object.fromEntries(errors) as Record<Part, number>
}

/** What the plan needs beside the fit. */
export interface PlanCosts {
  readonly work: FittedCosts
  /** Ledger records per second that one PostgreSQL took in `bench/ledger`, for seconds. */
  readonly ledgerPerSecond: number
  readonly walBytes: number
  readonly ledgerBytes: number
  readonly requestLogBytes: number
  /** PostgreSQL's CPU time to read one ledger row and hash it. */
  readonly rowReadUs: number
}

/** What one cell of a plan has. */
export interface CellPlan {
  readonly perSecond: number
  /** One a core. */
  readonly processes: number
  readonly postgresCores: number
  /** Of the one core that a Redis uses. A cell has one Redis for its limits: Torana refuses a cluster. */
  readonly redisCore: number
  readonly walMegabytesPerSecond: number
  readonly ledgerGigabytesPerDay: number
  readonly requestLogGigabytes: number
}

export interface ScalePlan {
  readonly perSecond: number
  readonly cells: number
  readonly cell: CellPlan
}

/** Share of anything that ordinary hours use: the rest is for bursts, and for the work of a machine that was lost. */
const USED_SHARE = 0.5
/** Cores of PostgreSQL for one cell. Larger machines exist; they cost more than a second cell. */
const CELL_POSTGRES_CORES = 16
/** Write-ahead log per second that a good disk and a standby in another zone follow without lag. */
const CELL_WAL_MEGABYTES = 200
/** Days for which the request log is kept by default. */
export const REQUEST_LOG_DAYS = 30

/** In the background: when its hour is compared, when it is sealed, and when its day is exported. */
export const READS_OF_ROW = 3
/** CPU time of a node to export one ledger row: 6 µs to write it to its file, 9 µs to read it back before its partition is dropped. */
export const EXPORT_US_OF_ROW = 15
/** Cells beyond which a plan is a mistake in its costs. */
const MAX_CELLS = 100_000
const [MEGABYTE, GIGABYTE] = [1_000_000, 1_000_000_000]
const DAY_SECONDS = 86_400

/** As few cells as keep every limit of each. */
export function planFor(perSecond: number, costs: PlanCosts): ScalePlan {
  for (let cells = 1; cells <= MAX_CELLS;) {
    const cell = cellFor(perSecond / cells, costs)
    const tooMuch = Math.max(...Object.values(loadsOf(cell, costs)))
    if (tooMuch <= 1) return { perSecond, cells, cell }
    cells = Math.max(cells + 1, Math.floor(cells * tooMuch))
  }
  throw new Error(`${perSecond} requests per second need more than ${MAX_CELLS} cells`)
}

/** Shares of what a cell may use: 1 is all of it. */
export function loadsOf(cell: CellPlan, { ledgerPerSecond }: PlanCosts): Readonly<Record<string, number>> {
  return {
    // Each request is one record.
    'ledger records': cell.perSecond / (ledgerPerSecond * USED_SHARE),
    'PostgreSQL cores': cell.postgresCores / CELL_POSTGRES_CORES,
    'write-ahead log': cell.walMegabytesPerSecond / (CELL_WAL_MEGABYTES * USED_SHARE),
    Redis: cell.redisCore / USED_SHARE,
  }
}

function cellFor(perSecond: number, costs: PlanCosts): CellPlan {
  const { work, walBytes, ledgerBytes, requestLogBytes, rowReadUs } = costs
  const perProcess = perSecondOfProcess(work)
  const exportCores = (perSecond * EXPORT_US_OF_ROW) / 1_000_000
  // Two at least, so that one may be lost.
  const processes = Math.max(2, Math.ceil(perSecond / perProcess + exportCores / USED_SHARE))
  const coresOf = ({ perRequestUs, perProcessUs }: Work, moreUs = 0): number =>
    (perSecond * (perRequestUs + moreUs) + processes * perProcessUs) / 1_000_000
  return {
    perSecond,
    processes,
    postgresCores: coresOf(work.postgresUs, READS_OF_ROW * rowReadUs) / USED_SHARE,
    redisCore: coresOf(work.redisUs),
    walMegabytesPerSecond: (perSecond * walBytes) / MEGABYTE,
    ledgerGigabytesPerDay: (perSecond * DAY_SECONDS * ledgerBytes) / GIGABYTE,
    requestLogGigabytes: (perSecond * DAY_SECONDS * REQUEST_LOG_DAYS * requestLogBytes) / GIGABYTE,
  }
}

/** Requests per second to plan for one process: a share of what it serves when its core is busy. */
export function perSecondOfProcess({ gatewayUs: { perRequestUs, perProcessUs } }: FittedCosts): number {
  const most = (1_000_000 - perProcessUs) / perRequestUs
  if (!(most > 0)) throw new Error('a process without requests uses its whole core')
  return most * USED_SHARE
}
