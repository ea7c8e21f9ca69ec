/** What proves the promises, and when: a change runs little of it, every program of the lab has its place here. */

export type When = 'after-merge' | 'nightly' | 'weekly'

/** The jobs of each run. They start side by side, so that a red one hides no other. */
export const PROOFS: Readonly<Record<When, Readonly<Record<string, readonly string[]>>>> = {
  'after-merge': {
    processes: [
      'test -- e2e chaos server/test/contract/database-pglite.test.ts',
      'lab -- bench/steady --quick',
      'lab -- check/ledger-age --quick',
    ],
    clients: [
      'lint:types',
      'lab -- conformance/embeddings --quick',
      'lab -- conformance/images --quick',
      'lab -- conformance/contents --quick',
      'lab -- conformance/batches --quick',
      'lab -- check/vector-types --quick',
      'lab -- check/drift --quick',
      'test:package',
      'lab -- check/docs --smoke',
      'test:console -- --project smoke-webkit',
      'console:sizes',
    ],
    // They measure, and have a machine for themselves.
    speed: ['lab -- bench/gate', 'lab -- check/timing'],
  },
  nightly: {
    conformance: [
      'lab -- conformance/embeddings',
      'lab -- conformance/images',
      'lab -- conformance/contents',
      'lab -- conformance/batches',
    ],
    console: ['test:console'],
    rules: [
      'lab -- simulation/money',
      'lab -- simulation/schedule',
      'lab -- simulation/sharing',
      'lab -- simulation/beside-batch',
      'lab -- check/properties',
      'lab -- check/pglite',
      'lab -- check/contract',
      'lab -- check/config-export',
    ],
    stores: [
      'lab -- check/ledger-age',
      'lab -- check/backup-tables',
      'lab -- check/config-changes',
      'lab -- check/alerts',
      'lab -- check/suspects',
      'lab -- chaos/soak --requests 200000 --rate 300',
    ],
    spaces: ['lab -- check/vector-types', 'lab -- check/drift', 'lab -- check/image-drift'],
    // Pages whose blocks ran get their tick on the site.
    docs: ['lab -- check/docs', 'lab -- check/recipes', 'lab -- check/site'],
  },
  weekly: {
    ledger: ['lab -- chaos/ledger --rounds 5 --rate 400'],
    slips: ['lab -- chaos/slips'],
    stores: ['lab -- chaos/outages', 'lab -- chaos/failovers'],
    restarts: ['lab -- chaos/restarts', 'lab -- chaos/stops'],
    images: ['lab -- chaos/images', 'lab -- chaos/upstreams'],
    batches: ['lab -- chaos/batches --postgres-kill --blob-kill'],
    code: ['lab -- check/mutants', 'lab -- check/contributing'],
    operators: [
      'lab -- check/doctor',
      'lab -- check/backup',
      'lab -- check/monitoring',
      'lab -- check/import',
      'lab -- check/multipart',
    ],
  },
}

/** Programs that no run starts, each with its reason. */
export const BY_HAND: Readonly<Record<string, string>> = {
  'check/traces': 'it needs a collector of OpenTelemetry, which no registry of packages has',
  'bench/*': 'figures are measured together, by `figures`, on a quiet machine',
  figures: 'two and a half hours of a quiet machine, before a release',
  'release-dry-run': 'a rehearsal before a release, which runs all checks itself',
  'demo-traffic': 'a tool',
  'fake-provider': 'a tool, which tests start',
  'model-server': 'a tool, which tests start',
  'probe-images': 'it drew its images once',
  'console-images': 'it draws the pictures of pages, when they change',
}
