import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFacts } from '../build/facts.ts'
import { readConfig, readNothing } from '../load.ts'
import { exportedLines, exportedText, type StoreParts } from './export.ts'

const surroundings = {
  env: { KEY: 'sk-of-the-environment' },
  readFile: () => '',
  facts: builtInFacts(),
  bootstrapKey: undefined,
  nowMs: Date.UTC(2026, 10, 18),
}
const NOTHING: StoreParts = {
  objects: [],
  prices: [],
  credentials: [],
  projects: [],
  alerts: { channels: [], rules: [] },
}

const FILE = `# the house
upstreams:
  main: { provider: openai, apiKey: \${KEY} } # ours
models:
  text-embedding-3-small:
    aliases: [small]
    deployments:
      - upstream: main
`

function exported(text: string | undefined, parts: Partial<StoreParts>) {
  const loaded =
    text === undefined
      ? readNothing('sk-openai', surroundings)
      : readConfig('torana.yaml', text, surroundings)
  const all = { ...NOTHING, ...parts }
  const objects = all.objects.map((one) => ({ ...one, by: 'alice', atMs: 0 }))
  const { catalog } = loaded.extend(objects)
  return { base: { text, file: loaded.base.file, catalog }, all }
}

function textOf(text: string | undefined, parts: Partial<StoreParts>): string {
  const { base, all } = exported(text, parts)
  return exportedText(base, all)
}

const GPU = {
  object: 'upstream',
  name: 'gpu',
  entry: { baseUrl: 'http://gpu.internal:8080/v1', dialect: 'openai' },
} as const
const ADDED = {
  object: 'model',
  name: 'text-embedding-3-small',
  entry: { deployments: [{ limits: { concurrency: 8 }, weight: 30, upstream: 'gpu', priority: 1 }] },
} as const

test('a file with nothing in the store is exported as it is', () => {
  assert.equal(textOf(FILE, {}), FILE)
})

test('what the store adds stands in the file as people would write it, and the rest of the file stays', () => {
  const own = {
    object: 'model',
    name: 'bge',
    entry: {
      deployments: [{ upstream: 'gpu', price: 'free' }],
      cache: { ttl: '30d' },
      kind: 'embedding',
      embedding: { dimensions: 1024 },
      aliases: ['house-embed'],
    },
  } as const
  assert.equal(
    textOf(FILE, { objects: [GPU, ADDED, own], credentials: ['gpu'] }),
    `# Secrets are not in this file. Set these variables:
#   GPU_API_KEY: the key of upstream gpu

# the house
upstreams:
  main: { provider: openai, apiKey: \${KEY} } # ours
  gpu:
    dialect: openai
    baseUrl: http://gpu.internal:8080/v1
    apiKey: '\${GPU_API_KEY}'
models:
  text-embedding-3-small:
    aliases: [ small ]
    deployments:
      - upstream: main
      - upstream: gpu
        priority: 1
        weight: 30
        limits: { concurrency: 8 }
  bge:
    kind: embedding
    aliases: [ house-embed ]
    embedding: { dimensions: 1024 }
    deployments:
      - upstream: gpu
        price: free
    cache: { ttl: 30d }
`,
  )
})

test('each line knows whether torana.yaml has it, and where', () => {
  const { base, all } = exported(FILE, { objects: [GPU, ADDED] })
  const lines = exportedLines(base, all)
  const declaredAt = (text: string) => lines.find((line) => line.text === text)?.declaredAt
  assert.equal(declaredAt('      - upstream: main'), 8)
  assert.equal(declaredAt('      - upstream: gpu'), null)
})

test('prices of the store are written to deployments without one, secrets of the file to no line', () => {
  const text = `
upstreams: { main: { dialect: openai, baseUrl: 'https://a.example/v1', apiKey: sk-written-down, headers: { X-Api-Token: t0ken } } }
models: { small: { facts: text-embedding-3-small, deployments: [{ upstream: main }] } }
projects: { shop: { keys: [{ name: web, secret: 'a-secret-of-twenty-four-chars' }], webhooks: [{ url: 'https://app.example/p4th', secret: 's3cret-of-twenty-four-chars' }] } }
alerts: { channels: { team: { kind: slack, url: 'https://hooks.slack.com/services/T0/B0/x9Qd' } } }
`
  const found = textOf(text, { prices: [{ deployment: 'small/main', form: { usdPerMillionTokens: '0.5' } }] })
  for (const secret of ['sk-written-down', 't0ken', 'a-secret-of', 'x9Qd', 'p4th', 's3cret'])
    assert.ok(!found.includes(secret), found)
  assert.match(found, /apiKey: '\$\{MAIN_API_KEY\}'/)
  assert.match(found, /price: \{ usdPerMillionTokens: "0\.5" \}/)
  assert.match(found, /secret: '\$\{TORANA_KEY_SHOP_1\}'/)
})

test('a header of the file is exported as a variable whatever its name is, and so is what nested settings hide', () => {
  const text = `
upstreams:
  main: { dialect: openai, baseUrl: 'https://a.example/v1', headers: { x-auth: c4nary-1, ocp-apim-sub: 'Bearer \${KEY}' } }
  vertex:
    provider: google-vertex
    settings:
      project: my-project
      location: europe-west4
      googleAuthOptions: { credentials: { client_email: c4nary-2, private_key: c4nary-3 }, scopes: [c4nary-free] }
models: { small: { facts: text-embedding-3-small, deployments: [{ upstream: main }] } }
`
  const found = textOf(text, {})
  for (const secret of ['c4nary-1', 'c4nary-2', 'c4nary-3']) assert.ok(!found.includes(secret), found)
  assert.match(found, /x-auth: '\$\{MAIN_X_AUTH\}', ocp-apim-sub: 'Bearer \$\{KEY\}'/)
  assert.match(found, /private_key: '\$\{VERTEX_GOOGLEAUTHOPTIONS_CREDENTIALS_PRIVATE_KEY\}'/)
  for (const plain of ['my-project', 'europe-west4', 'c4nary-free']) assert.ok(found.includes(plain), found)
})

const WRITTEN_KEYS: readonly (readonly [written: string, exported: string])[] = [
  ['${KEY}', '${KEY}'],
  ['${KEY:?set it}', '${KEY:?set it}'],
  ['Bearer ${KEY}', 'Bearer ${KEY}'],
  ['${KEY:-sk-fallback}', '${KEY}'],
  ['sk-written${KEY}', '${MAIN_API_KEY}'],
  ['${KEY}-written', '${MAIN_API_KEY}'],
  ['sk-${KEY:-fallback}', '${MAIN_API_KEY}'],
]

for (const [written, expected] of WRITTEN_KEYS)
  test(`a credential written as ${written} is exported as ${expected}`, () => {
    const found = textOf(
      `
upstreams: { main: { dialect: openai, baseUrl: 'https://a.example/v1', apiKey: '${written}' } }
models: { small: { facts: text-embedding-3-small, deployments: [{ upstream: main }] } }
`,
      {},
    )
    assert.equal(/apiKey: ['"]?([^'",}]*\}[^'",}]*)/.exec(found)?.[1]?.trim(), expected, found)
  })

test('rules and channels of the store follow those of the file, and their secrets are variables', () => {
  const alerts = {
    channels: [
      { name: 'team', entry: { kind: 'webhook', private: true }, secrets: ['url', 'secret'] },
      { name: 'mail', entry: { kind: 'email', to: ['ops@example.com'] }, secrets: [] },
    ],
    rules: [
      {
        name: 'latency',
        entry: { kind: 'latency', condition: { p95Ms: 900, minutes: 5, requests: 20 }, enabled: false },
        channels: [
          { name: 'team', isDeclared: false },
          { name: 'team', isDeclared: true },
        ],
      },
    ],
  }
  const file = `${FILE}
alerts: { channels: { team: { kind: slack, url: 'https://hooks.example.com/services/x9Qd' } } }
`
  const found = textOf(file, { alerts })
  const env = {
    KEY: 'sk-of-the-environment',
    ALERT_TEAM_URL: 'https://hooks.example.com/a',
    ALERT_TEAM_2_URL: 'http://10.0.0.7/alerts',
    ALERT_TEAM_2_SECRET: 'whsec_of-at-least-twenty-four',
  }
  const again = readConfig('torana.yaml', found, { ...surroundings, env }).catalog.alerts
  const [rule] = again?.rules ?? []
  assert.deepEqual(
    again?.channels.map(({ name, kind }) => [name, kind]),
    [
      ['team', 'slack'],
      ['team-2', 'webhook'],
      ['mail', 'email'],
    ],
    found,
  )
  assert.deepEqual(
    [rule?.isOn, rule?.condition, rule?.channels],
    [false, { p95_ms: 900, minutes: 5, requests: 20 }, ['file.team-2', 'file.team']],
  )
})

test('without a file, the built-in upstreams and models are written down', () => {
  const found = textOf(undefined, { objects: [GPU] })
  const again = readConfig('torana.yaml', found, {
    ...surroundings,
    env: { OPENAI_API_KEY: 'sk-openai' },
  })
  const ids = [...readNothing('sk-openai', surroundings).catalog.models.keys()]
  assert.deepEqual([...again.catalog.models.keys()].toSorted(), ids.toSorted())
  assert.deepEqual([...(again.catalog.upstreams?.keys() ?? [])], ['demo', 'openai', 'gpu'])
})

test('what can not be served is left out, and named', () => {
  const faulty = { object: 'model', name: 'lost', entry: { deployments: [{ upstream: 'nowhere' }] } } as const
  const projects = [{ name: 'shop', entry: {}, keys: [{ name: 'web', models: ['gone'] }] }]
  const found = textOf(FILE, { objects: [faulty], projects })
  assert.match(
    found,
    /# Left out:\n#   model lost, which is faulty\n#   key shop\/web, whose models are not served any more\n/,
  )
  assert.doesNotMatch(found, /^ {2}lost:/m)
})
