/**
 * What a rate needs, from what was measured. A request costs the less CPU the more requests its process has, because requests share
 * group commits, polls and turns of the event loop. So a cost is read between the two measured configurations whose processes have
 * about as many requests.
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

type Load = Pick<Measured, 'processes' | 'perSecond'>

const PARTS: readonly Part[] = ['gatewayUs', 'postgresUs', 'redisUs']

/** Outside of what was measured, the nearest configuration counts. */
export function costOf(part: Part, load: Load, measured: readonly Measured[]): number {
  const wanted = processSeconds(load)
  const busiestFirst = measured.toSorted((a, b) => processSeconds(a) - processSeconds(b))
  const above = busiestFirst.findIndex((each) => processSeconds(each) >= wanted)
  const [more, less] = [busiestFirst[above - 1], busiestFirst.at(above)]
  if (less === undefined) throw new Error('nothing was measured')
  if (more === undefined || above < 0) return less[part]
  const share = (wanted - processSeconds(more)) / (processSeconds(less) - processSeconds(more))
  return more[part] + (less[part] - more[part]) * share
}

/** Seconds of a process for each request: the work of a turn or a commit that a request has alone is proportional to it. */
function processSeconds({ processes, perSecond }: Load): number {
  return processes / perSecond
}

/** How far the predicted CPU time of a request is off in another configuration: 0.1 is ten per cent too much. */
export function errorsOf(measured: readonly Measured[], checked: Measured): Readonly<Record<Part, number>> {
  const errors = PARTS.map((part) => [part, costOf(part, checked, measured) / checked[part] - 1])
  return Object.fromEntries(errors) as Record<Part, number>
}

export interface PlanCosts {
  /** Configurations of one and two processes, one of them as busy as it can be. */
  readonly measured: readonly Measured[]
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
  const { measured, walBytes, ledgerBytes, requestLogBytes, rowReadUs } = costs
  const exportCores = (perSecond * EXPORT_US_OF_ROW) / 1_000_000
  // Two at least, so that one may be lost.
  const processes = Math.max(2, Math.ceil(perSecond / perSecondOfProcess(costs) + exportCores / USED_SHARE))
  const coresOf = (part: Part, moreUs = 0): number =>
    (perSecond * (costOf(part, { processes, perSecond }, measured) + moreUs)) / 1_000_000
  return {
    perSecond,
    processes,
    postgresCores: coresOf('postgresUs', READS_OF_ROW * rowReadUs) / USED_SHARE,
    redisCore: coresOf('redisUs'),
    walMegabytesPerSecond: (perSecond * walBytes) / MEGABYTE,
    ledgerGigabytesPerDay: (perSecond * DAY_SECONDS * ledgerBytes) / GIGABYTE,
    requestLogGigabytes: (perSecond * DAY_SECONDS * REQUEST_LOG_DAYS * requestLogBytes) / GIGABYTE,
  }
}

/** Requests per second to plan for one process: a share of the most that one served. */
export function perSecondOfProcess({ measured }: Pick<PlanCosts, 'measured'>): number {
  return Math.max(...measured.map(({ processes, perSecond }) => perSecond / processes)) * USED_SHARE
}
