/** Answers of a node, made up for the tables of the CLI: one item with every field set, one with as few as can be. */

const LIMITS = { requests_per_minute: 600, tokens_per_minute: 1000 }
const BUDGET = { usd: '50.000000000', per: 'month', hard: true }
const PRICES = [
  { amount: '0.02', unit: '1M tokens' },
  { amount: '', unit: 'free' },
]

const INCIDENTS = [
  {
    title: 'azure-eu ejected',
    severity: 'critical',
    scope: { installation: true },
    started_at: '2026-11-17T10:20:30.000Z',
    ended_at: null,
    grouped: 14,
  },
  {
    title: 'ads: 87% of budget used',
    severity: 'warning',
    scope: { project: 'ads' },
    started_at: '2026-11-16T07:31:00.000Z',
    ended_at: '2026-11-16T08:31:00.000Z',
    grouped: 1,
  },
]
const ALERT_RULES = [
  {
    name: '',
    kind: 'budget',
    condition: { percent: [80, 100] },
    scope: { project: '*' },
    on: true,
    last_at: '2026-11-16T07:31:00.000Z',
  },
  {
    name: 'slow',
    kind: 'latency',
    condition: { p95_ms: 2000, minutes: 10 },
    scope: { installation: true },
    on: false,
    last_at: null,
  },
]
const ALERT_CHANNELS = [
  { id: 'c1', name: 'ops', kind: 'slack', masked: 'hooks.slack.com/…/x9Qd', queued: 0, failing_since: null },
  {
    id: 'c2',
    name: 'siem',
    kind: 'webhook',
    masked: 'siem.example.com/…',
    queued: 1,
    failing_since: '2026-11-17T10:20:30.000Z',
  },
]

const PROJECTS = [
  { name: 'search', managed_by: 'api', limits: LIMITS, budget: BUDGET },
  { name: 'shop', managed_by: 'configuration', limits: {}, budget: null },
]

const KEY = {
  id: 'search/ci',
  managed_by: 'api',
  models: ['small', 'large'],
  scopes: ['embeddings'],
  max_calls_at_once: 3,
  addresses: ['10.0.0.0/8'],
  limits: LIMITS,
  budget: { ...BUDGET, per: 'total', hard: false },
  expires_at: '2020-01-31T00:00:00.000Z',
  revoked_at: null,
  leaked: false,
  last_used_at: '2026-11-17T10:20:30.000Z',
  secrets: [
    { tail: '…abcd', valid_until: null },
    { tail: '…efgh', valid_until: null },
  ],
}
const KEYS = [
  KEY,
  { ...KEY, id: 'search/old', revoked_at: '2026-01-01T00:00:00.000Z', leaked: true, scopes: null },
  {
    ...KEY,
    id: 'shop/web',
    managed_by: 'configuration',
    models: null,
    scopes: null,
    max_calls_at_once: null,
    addresses: null,
    limits: {},
    budget: null,
    expires_at: null,
    last_used_at: null,
    secrets: [],
  },
]

const CREDENTIALS = [
  {
    upstream: 'openai',
    base_url: 'https://api.openai.com/v1',
    source: 'stored',
    updated_at: '2026-11-01T08:00:00.000Z',
  },
  { upstream: 'house', base_url: 'http://tei:8080/v1', source: 'none', updated_at: null },
]

const MODELS = [
  {
    id: 'small',
    kind: 'embedding',
    aliases: ['search-embed'],
    managed_by: 'configuration',
    managed_at: 'torana.yaml:12',
    space: 'small@8:0123abcd',
    ends: { on: '2026-12-01' },
    as_of: '2026-05-01',
    is_old: true,
    deployments: [
      { id: 'small/openai', state: 'healthy' },
      { id: 'small/azure', state: 'drained' },
    ],
    price: PRICES,
    last_hour: { requests: 12, failed: 1, p95_ms: 45.6 },
    last_day: { requests: 345 },
  },
  {
    id: 'picture',
    kind: 'image',
    aliases: [],
    managed_by: 'api',
    managed_at: null,
    space: null,
    ends: null,
    as_of: null,
    is_old: false,
    deployments: [],
    price: [],
    last_hour: { requests: 0, failed: 0, p95_ms: null },
    last_day: { requests: 0 },
  },
]

const DEPLOYMENTS = [
  {
    id: 'small/openai',
    state: 'drained',
    reason: 'slow',
    upstream_model: 'text-embedding-3-small',
    priority: 1,
    weight: 2,
    drained: { by: 'anna', reason: 'maintenance' },
    in_flight: 3,
    limit: 8,
    p95_ms: 120.4,
    calls: 100,
    failed_share: 0.015,
    price: PRICES,
  },
  {
    id: 'picture/house',
    state: 'healthy',
    reason: null,
    upstream_model: 'picture',
    priority: 0,
    weight: 1,
    drained: null,
    in_flight: 0,
    limit: null,
    p95_ms: null,
    calls: 0,
    failed_share: 0,
    price: [],
  },
]

const PROBES = [
  {
    at: '2026-11-17T10:20:30.000Z',
    deployment: 'small/openai',
    verdict: 'passed',
    least_cosine: 0.99999912,
    norm_drift: 0.00001234,
    reason: null,
  },
  {
    at: '2026-11-17T10:20:30.000Z',
    deployment: 'small/azure',
    verdict: 'quarantined',
    least_cosine: null,
    norm_drift: null,
    reason: 'moved',
  },
]
const SPACES = [
  {
    model: 'small',
    space: 'small@8:0123abcd',
    shared_with: [],
    guarded: true,
    deployments: [
      {
        deployment: 'small/openai',
        state: 'in',
        reason: null,
        last_good_at: '2026-11-17T10:20:30.000Z',
        last_cosine: { least: 0.999999, at: '2026-11-17T10:20:30.000Z' },
        last_probe: PROBES[0],
      },
      {
        deployment: 'small/azure',
        state: 'unknown',
        reason: 'never probed',
        last_good_at: null,
        last_cosine: null,
        last_probe: null,
      },
      {
        deployment: 'small/late',
        state: 'quarantined',
        reason: 'another space',
        last_good_at: null,
        last_cosine: { least: 0.977108, at: '2026-11-17T09:20:30.000Z' },
        last_probe: { ...PROBES[0], verdict: 'failed', least_cosine: null },
      },
    ],
  },
]

const BUDGETS = [
  {
    id: 'project:search',
    managed_by: 'configuration',
    managed_at: 'torana.yaml:30',
    limit_usd: '50.000000000',
    per: 'month',
    hard: true,
    window: { end: '2026-12-01T00:00:00.000Z' },
    spent_usd: '12.500000000',
    unknown_usd: '0.100000000',
    left_usd: '37.500000000',
    leased_usd: '1.000000000',
    forecast: { used_up_at: '2026-11-29T12:00:00.000Z' },
  },
  {
    id: 'key:shop/web',
    managed_by: 'api',
    managed_at: null,
    limit_usd: '0.000000000',
    per: 'total',
    hard: false,
    window: { end: null },
    spent_usd: '0.000000000',
    unknown_usd: '0.000000000',
    left_usd: '0.000000000',
    leased_usd: '0.000000000',
    forecast: null,
  },
]

const UNKNOWNS = [
  {
    request_id: '01a1',
    attempt: 1,
    call_id: '01a2',
    key_id: 'search/ci',
    deployment: 'small/openai',
    reserved_usd: '0.000020000',
    requested_at: '2026-11-17T10:20:30.000Z',
    posted_at: '2026-11-18T10:20:30.000Z',
  },
  {
    request_id: '01b1',
    attempt: 2,
    call_id: '01b2',
    key_id: 'search/ci',
    deployment: 'small/openai',
    reserved_usd: null,
    requested_at: '2026-11-17T10:20:30.000Z',
    posted_at: '2026-11-18T10:20:30.000Z',
  },
]

const REQUEST = {
  id: '01a1dd73',
  at: '2026-11-17T10:20:30.456Z',
  status: 200,
  fault: null,
  outcome: 'answered',
  key: 'search/ci',
  model: 'small',
  deployments: ['small/openai', 'small/azure'],
  calls: 2,
  tokens: 12,
  images: null,
  cost_usd: '0.000020000',
  unpriced: false,
  duration_ms: 123.6,
  own_ms: 1.24,
  waited_ms: 0,
  user: 'alice',
  tags: { team: 'red', job: 'nightly' },
}
const REQUESTS = [
  REQUEST,
  {
    ...REQUEST,
    id: '01b1',
    status: 401,
    fault: 'unknown_key',
    key: null,
    model: null,
    deployments: [],
    calls: 0,
    cost_usd: null,
  },
  { ...REQUEST, id: '01c1', cost_usd: null, unpriced: true },
]
const LEDGER = [
  {
    attempt: 1,
    call_id: '01a2',
    kind: 'post',
    deployment: 'small/openai',
    tokens: 12,
    images: 0,
    amount_usd: '0.000020000',
    at: '2026-11-17T10:20:31.000Z',
  },
  {
    attempt: 2,
    call_id: '01a3',
    kind: 'post',
    deployment: 'small/azure',
    tokens: null,
    images: 1,
    amount_usd: null,
    at: '2026-11-17T10:20:31.000Z',
  },
]
const ATTEMPTS = [
  {
    attempt: 1,
    deployment: 'small/openai',
    start_ms: 1.2,
    waited_ms: 0,
    duration_ms: 100,
    outcome: 'failed',
    status: 503,
    reason: 'overloaded',
    upstream_request_id: 'req_1',
  },
  {
    attempt: 2,
    deployment: 'small/azure',
    start_ms: 101.5,
    waited_ms: 0,
    duration_ms: 20,
    outcome: 'ok',
    status: null,
    reason: null,
    upstream_request_id: null,
  },
]

const AUDIT = [
  {
    sequence: 7,
    at: '2026-11-17T10:20:30.456Z',
    actor: 'anna',
    address: '10.0.0.1',
    action: 'key.revoke',
    target: 'search/ci',
    intact: true,
  },
  {
    sequence: 6,
    at: '2026-11-17T10:20:29.456Z',
    actor: 'token',
    address: null,
    action: 'key.create',
    target: 'search/ci',
    intact: false,
  },
]

const NODES = [
  {
    id: 'n1',
    host: 'alpha',
    version: '0.1.0',
    role: 'all',
    state: 'alive',
    started_at: '2026-11-17T10:20:30.000Z',
    seen_at: '2026-11-17T11:20:30.000Z',
    leased_usd: '1.500000000',
  },
  {
    id: 'n0',
    host: 'beta',
    version: '0.1.0',
    role: 'worker',
    state: 'ended',
    started_at: '2026-11-16T10:20:30.000Z',
    seen_at: '2026-11-16T11:20:30.000Z',
    leased_usd: '0.000000000',
  },
]

const JOBS = [
  {
    id: 'job_1',
    status: 'succeeded',
    kind: 'generation',
    key: 'search/ci',
    model: 'picture',
    created_at: '2026-11-17T10:20:30.000Z',
    expires_at: '2026-11-18T10:20:30.000Z',
    duration_ms: 4321,
    cost_usd: '0.040000000',
    fault: null,
    pictures: [{ asset: 'a' }, { asset: 'b' }],
  },
  {
    id: 'job_2',
    status: 'failed',
    kind: 'edit',
    key: 'search/ci',
    model: 'picture',
    created_at: '2026-11-17T10:20:30.000Z',
    expires_at: null,
    duration_ms: null,
    cost_usd: null,
    fault: 'content_refused',
    pictures: [],
  },
]

const SUM = {
  requests: 10,
  posts: 11,
  tokens: 1200,
  images: 1,
  usd: '1.250000000',
  unknown_usd: '0.010000000',
  unpriced: 2,
  saved_usd: '0.500000000',
}

const BATCH = {
  id: 'batch_1',
  status: 'in_progress',
  endpoint: '/v1/embeddings',
  model: 'small',
  errors: null,
  input_file_id: 'file_in',
  output_file_id: 'file_out',
  error_file_id: null,
  created_at: 1_794_910_830,
  expires_at: 1_794_997_230,
  request_counts: { total: 10, completed: 7, failed: 1 },
  usage: { total_tokens: 70 },
  metadata: { job: 'nightly' },
  torana: { cost_usd: '0.000020000', pause: { code: 'key_revoked' }, cancelled_because: null },
}
const FAILED_BATCH = {
  ...BATCH,
  id: 'batch_2',
  status: 'failed',
  model: null,
  errors: {
    data: [
      { code: 'invalid_line', message: 'No JSON.', line: 3 },
      { code: 'empty', message: 'No lines.', line: null },
    ],
  },
  output_file_id: null,
  expires_at: null,
  usage: null,
  metadata: null,
  torana: undefined,
}

const list = (data: readonly unknown[]) => ({ data, has_more: false, next: null })

/** By method and path, without the query. */
export const ANSWERS: Readonly<Record<string, unknown>> = {
  'GET /api/v1/projects': list(PROJECTS),
  'PATCH /api/v1/projects/search': PROJECTS[0],
  'GET /api/v1/keys': list(KEYS),
  'PATCH /api/v1/keys/search/ci': KEY,
  'GET /api/v1/credentials': list(CREDENTIALS),
  'GET /api/v1/models': list(MODELS),
  'GET /api/v1/deployments': list(DEPLOYMENTS),
  'POST /api/v1/deployments/small%2Fopenai/test': {
    outcome: 'ok',
    status: 200,
    reason: null,
    duration_ms: 81.6,
    cost_usd: '0.000000020',
    request_id: '01a1',
  },
  'POST /api/v1/deployments/picture%2Fhouse/test': {
    outcome: 'upstream_failed',
    status: null,
    reason: 'refused',
    duration_ms: 12,
    cost_usd: null,
    request_id: '01b1',
  },
  'GET /api/v1/spaces': list(SPACES),
  'POST /api/v1/spaces/small/probe': list(PROBES),
  'GET /api/v1/budgets': list(BUDGETS),
  'GET /api/v1/budgets/project%3Asearch': BUDGETS[0],
  'GET /api/v1/unknowns': list(UNKNOWNS),
  'GET /api/v1/requests': list(REQUESTS),
  'GET /api/v1/requests/01a1dd73': {
    ...REQUEST,
    log: 'kept',
    steps: [{ name: 'read', start_ms: 0, duration_ms: 0.4 }],
    attempts: ATTEMPTS,
    skips: [],
    money: { reserved_usd: '0.000030000', posted_usd: '0.000020000', saved_usd: '0.000000000' },
    ledger: LEDGER,
  },
  'GET /api/v1/requests/01b1': {
    ...REQUEST,
    id: '01b1',
    status: 401,
    fault: 'unknown_key',
    key: null,
    model: null,
    user: null,
    tags: {},
    log: 'kept',
    steps: [],
    attempts: [],
    skips: [
      {
        deployment: 'small/house',
        reason: 'unpriced',
        text: "it has no price and the key's budget is hard",
      },
    ],
    money: { reserved_usd: null, posted_usd: '0.000000000', saved_usd: '0.000000000' },
    ledger: [],
  },
  'GET /api/v1/requests/01d1': {
    log: 'deleted',
    id: '01d1',
    at: REQUEST.at,
    key: 'search/ci',
    model: 'small',
    posted_usd: '0.000020000',
    ledger: LEDGER.slice(0, 1),
  },
  'GET /api/v1/alerts/incidents': list(INCIDENTS),
  'GET /api/v1/alerts/rules': list(ALERT_RULES),
  'GET /api/v1/alerts/channels': list(ALERT_CHANNELS),
  'GET /api/v1/audit': list(AUDIT),
  'GET /api/v1/configuration/changes': list([
    {
      id: '41',
      at: '2026-11-16T15:40:00.000Z',
      by: 'maria@example.com',
      summary: 'bge-m3: gpu-two concurrency 4 → 8',
      revertible: true,
    },
    {
      id: null,
      at: '2026-11-09T08:30:00.000Z',
      by: 'torana.yaml',
      summary: 'Reloaded: added models bge-m3',
      revertible: false,
    },
  ]),
  'GET /api/v1/nodes': list(NODES),
  'GET /api/v1/image-jobs': list(JOBS),
  'GET /api/v1/usage': {
    from: '2026-10-18T00:00:00.000Z',
    to: '2026-11-17T10:20:30.000Z',
    data: [{ group: 'search', total: SUM }],
    others: { groups: 3, total: SUM },
    overflow: { total: SUM },
    none: { total: SUM },
    left_out_tags: SUM,
    total: SUM,
    forecast: { until: '2026-12-01T00:00:00.000Z', usd: '2.000000000' },
  },
  'GET /v1/batches': list([BATCH, FAILED_BATCH]),
  'GET /v1/batches/batch_1': BATCH,
  'GET /v1/batches/batch_2': FAILED_BATCH,
  'GET /v1/batches/batch_3': {
    ...BATCH,
    id: 'batch_3',
    status: 'cancelled',
    torana: { cost_usd: '0.000000000', pause: null, cancelled_because: 'key_leaked' },
  },
}
