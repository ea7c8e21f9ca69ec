/** How many machines a rate needs, from the cost of one request. Sums and divisions: replace the figures by your own. */

/** The measured cost of one request. */
export interface UnitCosts {
  /** CPU time of a gateway process. */
  readonly gatewayUs: number
  readonly postgresUs: number
  readonly redisUs: number
  readonly redisCommands: number
  /** PostgreSQL's write-ahead log, which its standby and its archive receive too. */
  readonly walBytes: number
}

/** The unit costs of one case of the measurement, and other figures. */
export interface Measured extends UnitCosts {
  readonly name: string
  readonly perSecond: number
  /** CPU time of all that ran, load and upstream included. */
  readonly wholeUs: number
  readonly redisBytes: number
  readonly ledgerRows: number
}

export interface ScalePlan {
  readonly perSecond: number
  /** One a core. */
  readonly processes: number
  readonly redisShards: number
  readonly postgresCores: number
  readonly walMegabytesPerSecond: number
  readonly cells: number
}

/** Share of a core that ordinary hours use: the rest is for bursts, and for the work of a machine that was lost. */
export const USED_SHARE = 0.5
/** Factor from the cost on one process to that on several: fewer records share a commit. Two processes cost 1.28 times as much. */
export const MODEL_ERROR = 1.3
/** Cores of PostgreSQL for one cell. Larger machines exist; they cost more than a second cell. */
export const CELL_POSTGRES_CORES = 16
/**
 * Ledger records per second that one PostgreSQL has been seen to take: 20,600 with 2,048 writers (`npm run lab -- bench/ledger`).
 * Its CPU alone would allow more, but more has not been measured.
 */
export const CELL_RECORDS_PER_SECOND = 20_000
/** Write-ahead log per second that a good disk and a standby in another zone follow without lag. */
export const CELL_WAL_MEGABYTES = 200

const MEGABYTE = 1_000_000

export function planFor(perSecond: number, costs: UnitCosts): ScalePlan {
  const coresFor = (us: number): number => (perSecond * us * MODEL_ERROR) / 1_000_000 / USED_SHARE
  const postgresCores = coresFor(costs.postgresUs)
  const walMegabytesPerSecond = (perSecond * costs.walBytes) / MEGABYTE
  const cells = Math.ceil(
    Math.max(
      1,
      // Each request is one record.
      perSecond / CELL_RECORDS_PER_SECOND,
      postgresCores / CELL_POSTGRES_CORES,
      walMegabytesPerSecond / CELL_WAL_MEGABYTES,
    ),
  )
  return {
    perSecond,
    // Two at least, so that one may be lost.
    processes: Math.max(2, Math.ceil(coresFor(costs.gatewayUs))),
    // Redis works on one core. A cell has its own.
    redisShards: Math.max(cells, Math.ceil(coresFor(costs.redisUs))),
    postgresCores: Math.ceil(postgresCores),
    walMegabytesPerSecond,
    cells,
  }
}

/**
 * The capacity of several processes on one machine that runs everything else of a request too: either the processes are
 * busy, or the cores are.
 */
export function mostPerSecond(
  processes: number,
  cores: number,
  { gatewayUs, wholeUs }: { readonly gatewayUs: number; readonly wholeUs: number },
): number {
  return Math.min((processes * 1_000_000) / gatewayUs, (cores * 1_000_000) / wholeUs)
}
