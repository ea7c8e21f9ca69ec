/** What `npm run lab -- figures` runs, in this order, and which figures each program publishes. */

export interface Measurement {
  readonly program: string
  /** Of the full run, which also gets `--write`. */
  readonly options: readonly string[]
  /** Of the short look. */
  readonly quick: readonly string[]
  /** How long it takes on two quiet cores. */
  readonly minutes: number
  /** Ids of docs/figures.json that it writes. One that ends with a dot: all that begin so. */
  readonly writes: readonly string[]
  /** Without it no other one is published. */
  readonly isGate?: true
  /** Breaks things and counts what was lost. Runs with `--proofs`, or by its name. */
  readonly isProof?: true
}

/** The shortest load that shows that a program of windows works. */
const ONE_WINDOW = ['--seconds', '1', '--windows', '1', '--warmup', '1']

export const MEASUREMENTS: readonly Measurement[] = [
  {
    program: 'bench/noise',
    options: [],
    quick: ['--quick'],
    minutes: 1,
    writes: ['noise.'],
    isGate: true,
  },
  {
    program: 'bench/embeddings',
    options: [],
    quick: [...ONE_WINDOW, '--aged', '1000'],
    minutes: 8,
    writes: ['cpu.embed.', 'ratio.embed.'],
  },
  {
    program: 'bench/stores',
    options: [],
    quick: [...ONE_WINDOW, '--keys', '20'],
    minutes: 3,
    writes: ['rate.embed.', 'ratio.stores.'],
  },
  {
    program: 'bench/ledger',
    options: [],
    quick: ['--seconds', '1', '--writers', '64'],
    minutes: 1,
    writes: ['rate.ledger.', 'cpu.ledger.'],
  },
  {
    program: 'bench/workers',
    options: [],
    quick: ['--rounds', '1', '--seconds', '1', '--warmup', '1'],
    minutes: 4,
    writes: ['memory.worker', 'workers.'],
  },
  {
    program: 'bench/memory',
    options: [],
    quick: ['--quick'],
    minutes: 1,
    writes: ['memory.node.', 'memory.demo'],
  },
  {
    program: 'bench/large-answers',
    options: ['--parts', 'I'],
    quick: ['--parts', 'I'],
    minutes: 2,
    writes: ['memory.images.'],
  },
  {
    program: 'bench/strangers',
    options: ['--minutes', '5'],
    quick: ['--minutes', '0.1'],
    minutes: 7,
    writes: ['memory.hostile'],
  },
  { program: 'bench/scale', options: [], quick: ['--quick'], minutes: 6, writes: [] },
  {
    program: 'bench/peers',
    options: [],
    quick: ['--quick', '--only', 'torana-strict,bifrost'],
    minutes: 40,
    writes: ['peers.'],
  },
  {
    program: 'bench/steady',
    options: ['--minutes', '60'],
    quick: ['--quick'],
    minutes: 68,
    writes: ['steady.'],
  },
  {
    program: 'chaos/outages',
    options: [],
    quick: ['--seconds', '5', '--rate', '50'],
    minutes: 5,
    writes: ['outage.'],
    isProof: true,
  },
  {
    program: 'chaos/restarts',
    options: [],
    quick: ['--only', 'processes', '--balancer', 'haproxy', '--times', '1'],
    minutes: 60,
    writes: ['restarts.', 'upgrade.'],
    isProof: true,
  },
  {
    program: 'chaos/failovers',
    options: [],
    quick: ['--only', 'sentinel', '--times', '1'],
    minutes: 10,
    writes: ['failover.'],
    isProof: true,
  },
  {
    program: 'chaos/batches',
    options: [],
    quick: ['--lines', '2000', '--kills', '1', '--every-ms', '1000', '--call-ms', '3000'],
    minutes: 10,
    writes: ['batches.'],
    isProof: true,
  },
  {
    program: 'check/vector-types',
    options: [],
    quick: ['--quick'],
    minutes: 20,
    writes: ['types.'],
    isProof: true,
  },
  {
    program: 'check/drift',
    options: [],
    quick: ['--quick'],
    minutes: 60,
    writes: ['drift.'],
    isProof: true,
  },
]
