/** Every program of the lab, by name: what it answers, and what it needs. A name is the path of its file below `lab/`, or of the folder of its `main.ts`. */

export interface Program {
  readonly answers: string
  /** Programs that must be installed, and what it starts. */
  readonly needs?: string
  /** Relative to the repository. Undefined: as the name says. */
  readonly file?: string
  /** Options of Node itself. */
  readonly node?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A npm script that runs before it. */
  readonly after?: 'build' | 'console:build' | 'site:build'
  /** Runs beside a PostgreSQL that `server/test/support/with-servers.ts` starts. */
  readonly withServers?: true
}

const BARE_PROXY = 'nginx, wrk, two cores'
const STORES = 'PostgreSQL, Redis'

const BENCH: Readonly<Record<string, Program>> = {
  'bench/noise': {
    answers: 'the noise of this machine: a bare proxy beside itself; --quick; --write',
    needs: BARE_PROXY,
  },
  'bench/gate': {
    answers:
      'CPU time of the hot path beside a bare proxy; it fails if that is more than a quarter below lab/bench/gate.json',
    needs: BARE_PROXY,
  },
  'bench/embeddings': {
    answers: 'what Torana costs beside a bare proxy; --inspect writes profiles',
    needs: BARE_PROXY,
  },
  'bench/large-answers': {
    answers: 'the largest answers that the contract allows, and images of many callers at once; --parts VI',
    needs: 'two cores',
  },
  'bench/flame': {
    answers: 'draws where the CPU time of a profile goes: <file.cpuprofile> <file.svg>',
  },
  'bench/ledger': { answers: 'ledger entries per second', needs: STORES },
  'bench/stores': { answers: 'the cost of durable accounting', needs: `${BARE_PROXY}, ${STORES}` },
  'bench/sharing': { answers: 'what cache and micro-batching gain with a real model', needs: 'two cores' },
  'bench/overload': { answers: 'twice the load that a node can serve', needs: 'two cores' },
  'bench/batches': { answers: 'the cost of a batch', needs: 'PostgreSQL, two cores' },
  'bench/console': {
    answers:
      'every GET route of the control API over a million ledger rows; --small --no-load for a quick look',
    needs: 'PostgreSQL',
  },
  'bench/overview': {
    answers: "the console's Overview under load",
    file: 'console/test/overview-under-load.ts',
    after: 'console:build',
    needs: 'Chromium, PostgreSQL',
  },
  'bench/scale': {
    answers:
      'what one request costs with one, two and three processes, more keys and more models, and whether a model of it holds: docs/sizing.md; --quick; --write',
    needs: `${BARE_PROXY}, ${STORES}`,
  },
  'bench/steady': {
    answers:
      'the highest rate that this machine holds with every store real: nothing lost, the reconciler current, p99 per tenth, memory; --minutes 60 --rate 1000; --quick; --write',
    needs: `nginx, ${STORES}, S3 server`,
  },
  'bench/workers': {
    answers: 'two workers beside one process',
    after: 'build',
    needs: `${BARE_PROXY}, ${STORES}`,
  },
  'bench/memory': {
    answers: 'memory of a node at rest, and of the demo model; --write',
    needs: 'PostgreSQL',
  },
  'bench/keys': {
    answers:
      'start, memory, CPU, revocation and an outage with 1,000,000 stored keys; --small; --parts F: the key file alone',
    needs: 'nginx, wrk, PostgreSQL, two cores',
  },
  'bench/strangers': { answers: 'what clients without a key or money do to other projects' },
  'bench/canaries': { answers: 'whether a text of one project ever reaches another', needs: STORES },
  'bench/peers': {
    answers:
      'LiteLLM, Portkey, Bifrost and Torana at the same rates: docs/benchmarks.md; --install brings them; --quick; --write; forty minutes',
    needs: `${BARE_PROXY}, ${STORES}, Python`,
  },
  'bench/soak': {
    answers:
      '200 clients that leave at any byte, failing upstreams, 20 minutes; a judge without code of the server checks everything; --minutes 20 --clients 200',
    needs: 'PostgreSQL',
  },
}

const CHAOS: Readonly<Record<string, Program>> = {
  'chaos/ledger': {
    answers: 'kills gateways, PostgreSQL and Redis under load and compares the ledger',
    needs: `${STORES}, HAProxy`,
  },
  'chaos/soak': {
    answers:
      'two gateways through 5,000,000 requests with a fault of a store every 30 s: exact ledger, flat memory, handles and p99; --requests 200000 --rate 1200 --round-seconds 60; --smoke',
    needs: `${STORES}, HAProxy`,
  },
  'chaos/slips': {
    answers:
      'slips of an operator under load: the clock of a node is days off, from its start or by a jump; a table, a right, a check or room is missing in the database; nothing is lost, doubled, sealed, dropped, posted or exported too early; --only clock --rounds 3',
    needs: 'PostgreSQL, HAProxy',
  },
  'chaos/outages': { answers: 'makes the stores unreachable for a minute', needs: `${STORES}, HAProxy` },
  'chaos/images': { answers: 'kills nodes in the middle of image jobs', needs: 'PostgreSQL' },
  'chaos/batches': {
    answers:
      'a batch on three nodes that are killed in turn: every line once, every call in the ledger; --lines 1000000 --kills 20',
    needs: 'PostgreSQL, S3 server with --blob-kill',
    withServers: true,
  },
  'chaos/upstreams': { answers: 'upstreams that fail, hang and drift under load', needs: 'two cores' },
  'chaos/restarts': {
    answers:
      'rolling restarts, replaced and killed workers, and upgrades behind HAProxy and nginx: no request fails; --only workers --times 3',
    needs: 'PostgreSQL, HAProxy, nginx',
  },
  'chaos/failovers': {
    answers: 'the primaries of PostgreSQL (Patroni) and Redis (Sentinel) are lost under load',
    needs: 'Patroni, etcd, HAProxy, Redis',
  },
  'chaos/stops': {
    answers: 'SIGTERM at any moment: the process ends in time, and nothing is lost',
    needs: 'PostgreSQL',
  },
}

const CONFORMANCE: Readonly<Record<string, Program>> = {
  'conformance/embeddings': {
    answers: 'every SDK against every kind of upstream; --quick; --clients openai-7',
    needs: 'Python and Go, Java where Maven and a JDK are installed',
  },
  'conformance/contents': {
    answers:
      "images, audio and texts in every shape of a request and by every wire, checked by the sums of the caller's bytes; --quick",
    needs: 'Python',
  },
  'conformance/images': {
    answers: 'the same for images; --quick',
    needs: 'Python and Go, Java where Maven and a JDK are installed',
  },
  'conformance/batches': {
    answers: 'files, uploads, batches and webhooks with openai-node, openai-python and openai-go; --quick',
    needs: 'Python and Go',
  },
}

const LONG_TEST = ['--test']

const SIMULATION: Readonly<Record<string, Program>> = {
  'simulation/money': {
    answers: '20,000 random histories in which nodes die and budgets change; --histories 500',
    file: 'server/test/simulation/money-long.ts',
  },
  'simulation/schedule': {
    answers:
      'thousands of simulated minutes of scheduling, compared with an oracle; --plot draws docs/pictures/schedule.png',
    file: 'server/test/simulation/schedule-long.ts',
  },
  'simulation/beside-batch': {
    answers: 'what people notice of a batch under every load; npm test tries three',
    file: 'server/test/simulation/beside-batch.test.ts',
    node: LONG_TEST,
    env: { TORANA_TEST_LONG: '1' },
  },
  'simulation/sharing': {
    answers: '50,000 random mixes of cache, flights and micro-batches',
    file: 'server/src/request/embeddings/shared-vectors.test.ts',
    node: LONG_TEST,
    env: { TORANA_TEST_RUNS: '50000' },
  },
}

const CHECKS: Readonly<Record<string, Program>> = {
  'check/properties': {
    answers: 'properties, with ten times the runs of npm test',
    file: 'server/src/**/*.test.ts',
    node: ['--test', '--test-concurrency=3'],
    env: { TORANA_TEST_RUNS: '10000' },
  },
  'check/pglite': {
    answers: 'all contracts of stores on PGlite; npm test has a smoke test of each',
    file: 'server/test/contract/stores-pglite-long.ts',
    node: LONG_TEST,
  },
  'check/vector-types': {
    answers:
      "types of vectors, bit by bit against sentence-transformers, numpy and pgvector; OpenAI's SDKs; what each type keeps of the ten nearest; --quick; --write",
    needs: 'Python',
  },
  'check/drift': {
    answers:
      'how many vectors of a changed model leave under the old name, and for how long; whether any is in the output of a batch; whether noise alone is ever quarantined; what probes cost; --quick; --only drift,batches,noise,tokens --runs 100',
    needs: 'PostgreSQL',
  },
  'check/image-drift': {
    answers:
      'whether the space guard finds every changed image encoder and no noisy decoder, by every wire; --models 20 --probes 1000',
  },
  'check/doctor': {
    answers:
      'fourteen faults planted in one installation: the line of torana doctor about each, and none before them',
    needs: 'PostgreSQL, Redis and PgBouncer',
  },
  'check/suspects': {
    answers:
      'whether the suspect vectors that Torana lists are those that callers got, with nodes killed at random; --quick; --runs 20',
    withServers: true,
    needs: 'PostgreSQL',
  },
  'check/ledger-age': {
    answers:
      'years of ledger, generated: hours are sealed, days exported and dropped while the node is killed; hot and cold sums against a formula to the nano-dollar; times and sizes; --rows 10000000 --days 10 --kills 100; --quick',
    needs: 'PostgreSQL, S3 server',
  },
  'check/alerts': {
    answers:
      'a thousand incidents while two nodes and three receivers are killed: each notice arrives, in order, and storms are one; --quick',
    needs: 'PostgreSQL',
  },
  'check/config-changes': {
    answers:
      'several admins at once, nodes killed, PostgreSQL lost within a change: no partial change, no lost update, an intact audit, every node within 2 s; --seconds 60 --seed 1',
    needs: 'PostgreSQL',
  },
  'check/config-export': {
    answers:
      '1,000 random installations exported into new ones: equal models, routing, key terms and prices, equal decisions in 1,000 requests each; --configurations 100 --requests 100 --seed 1',
    file: 'server/test/simulation/config-export-long.ts',
  },
  'check/docs': {
    answers:
      'every command of README and documentation in a fresh clone, its output compared with the page; --smoke: README and quick start; or <page…>',
    file: 'server/test/e2e/docs-long.ts',
  },
  'check/contributing': {
    answers: 'the first change of CONTRIBUTING.md, made as it is printed, with every command that checks it',
    withServers: true,
    needs: 'PostgreSQL',
  },
  'check/recipes': {
    answers:
      'every script and command of docs/recipes on a demo node, and the requests that Open WebUI, n8n and Dify send',
    file: 'lab/recipes/*{.test,-long}.ts',
    node: ['--test', '--test-concurrency=1'],
    needs: 'Python; Java where Maven and a JDK are installed',
  },
  'check/site': {
    answers:
      'the built site: no page links to itself or to nothing, searches find the right page first, nothing is wider than a phone',
    file: 'site/check/main.ts',
    after: 'site:build',
    needs: 'Chromium',
  },
  'check/import': {
    answers: 'the import from LiteLLM, up to a gateway that runs on its result',
    file: 'import-litellm/**/*.test.ts',
    node: ['--test', '--test-concurrency=3'],
  },
  'check/mutants': {
    answers:
      'whether a test notices each of sixty faults planted in the code of money, rights, spaces, dispatch and recovery; weekly; --only M17,M20 --jobs 2',
    withServers: true,
    needs: 'PostgreSQL',
  },
  'check/multipart': {
    answers: 'broken and oversized forms are parsed correctly or refused',
    file: 'server/test/fuzz/multipart.fuzz.ts',
  },
  'check/contract': {
    answers: '500 requests of each kind to each operation of both contracts, at a node with 1 GB',
    file: 'server/test/e2e/gate/contract-walk.test.ts',
    node: LONG_TEST,
    env: { TORANA_TEST_WALK: 'long' },
    withServers: true,
    needs: 'PostgreSQL',
  },
  'check/backup': {
    answers: 'backup and restore as an operator does them',
    file: 'server/test/e2e/backup.drill.ts',
    node: LONG_TEST,
    withServers: true,
    needs: 'PostgreSQL',
  },
  'check/backup-tables': {
    answers: 'a backup of every table, from either store and into either; npm test tries one direction',
    file: 'server/test/contract/backup.test.ts',
    node: LONG_TEST,
    env: { TORANA_TEST_LONG: '1' },
    withServers: true,
    needs: 'PostgreSQL',
  },
  'check/monitoring': {
    answers: 'dashboards and alerts against a real Prometheus',
    file: 'server/test/monitoring/check.ts',
    needs: 'Prometheus, Alertmanager',
  },
  'check/traces': {
    answers: 'a real OpenTelemetry Collector gets a trace whose spans add up',
    file: 'server/test/e2e/collector.drill.ts',
    node: LONG_TEST,
    needs: 'OTELCOL',
  },
  'check/timing': {
    answers: 'tests that measure time, alone',
    file: '{server,lab}/**/*.timing.ts',
    node: ['--test', '--test-concurrency=1'],
  },
}

const TOOLS: Readonly<Record<string, Program>> = {
  figures: {
    answers:
      'measures every published figure in one run on a quiet machine, two and a half hours; --only bench/scale; --proofs: also those that break things; --quick publishes nothing',
    needs: `${BARE_PROXY}, ${STORES}, what bench/peers --install brings`,
  },
  'release-dry-run': {
    answers:
      'a release against a registry on loopback, and a second run that does nothing; --checks <command>, --image',
    needs: 'what the checks need; buildah and podman with --image',
  },
  'demo-traffic': {
    answers: 'a demo node with mixed load and failures, so that every page of the console has data',
  },
  'fake-provider': { answers: 'plays every upstream and every fault; --help' },
  'model-server': { answers: 'a small real embedding model as an upstream; --help' },
  'probe-images': {
    answers: "draws the images of the space guard's probes, as it did once; --out <folder>",
  },
  'console-images': {
    answers: 'the console images of the docs, from a demo with traffic',
    file: 'console/test/pictures.ts',
    after: 'console:build',
    needs: 'Chromium, PostgreSQL',
  },
}

export const PROGRAMS: Readonly<Record<string, Program>> = {
  ...BENCH,
  ...CHAOS,
  ...CONFORMANCE,
  ...SIMULATION,
  ...CHECKS,
  ...TOOLS,
}
