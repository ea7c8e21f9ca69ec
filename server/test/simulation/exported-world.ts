/** Random installations: a torana.yaml, and what people put into the store beside it. */
import { Document, isMap, stringify } from 'yaml'
import { builtInFacts } from '#config/build/facts.ts'
import { ConfigError } from '#config/file/problem.ts'
import { readConfig, readNothing, type LoadedConfig, type Surroundings } from '#config/load.ts'
import type { ExportedProject, StoredEntry, StoredObject } from '#ports/stored-configuration.ts'
import { keyFrom } from '#core/keys/key.ts'
import { seeded } from '#test/support/seeded.ts'

export interface Installation {
  readonly loaded: LoadedConfig
  readonly objects: readonly StoredObject[]
  readonly prices: readonly {
    readonly deployment: string
    readonly form: StoredEntry | string
    readonly by: string
    readonly atMs: number
  }[]
  /** Secrets of upstreams in the store. */
  readonly credentials: ReadonlyMap<string, string>
  readonly projects: readonly (ExportedProject & { readonly secrets: ReadonlyMap<string, string> })[]
  /** Of the variables that its own file names. */
  readonly env: Readonly<Record<string, string>>
  readonly text: string | undefined
}

const facts = builtInFacts()
const NOW_MS = Date.UTC(2026, 10, 18)

export function surroundingsWith(env: Readonly<Record<string, string>>): Surroundings {
  return { env, readFile: () => '', facts, bootstrapKey: undefined, nowMs: NOW_MS }
}

const EMBEDDING = ['text-embedding-3-small', 'text-embedding-3-large', 'BAAI/bge-m3']
const IMAGE = ['gpt-image-1.5', 'gpt-image-1-mini']
const OWN = ['house-embed', 'own/vectors', 'draw']

/** A draw whose file is faulty is drawn again. */
export function anInstallation(seed: number): Installation {
  for (let draw = 0; ; draw += 1) {
    try {
      return drawn(seed + draw * 1_000_000)
    } catch (error) {
      if (!(error instanceof ConfigError) || draw > 50) throw error
    }
  }
}

function drawn(seed: number): Installation {
  const random = seeded(seed)
  const chance = (share: number): boolean => random() < share
  const whole = (most: number): number => Math.floor(random() * (most + 1))
  const one = <Value>(of: readonly Value[]): Value => of[whole(of.length - 1)] as Value
  const some = <Value>(of: readonly Value[]): Value[] => of.filter(() => chance(0.5))
  const given = <Value>(share: number, name: string, value: () => Value): Record<string, Value> =>
    chance(share) ? { [name]: value() } : {}
  const env: Record<string, string> = {}

  const address = (isStored: boolean): StoredEntry =>
    one<() => StoredEntry>([
      () => ({ dialect: 'openai', baseUrl: `https://${one(['a', 'b', 'c'])}.example/v1` }),
      () => ({ provider: 'openai' }),
      () => ({
        dialect: 'openai',
        baseUrl: 'http://10.0.0.7:8080/v1',
        headers: isStored ? { 'x-title': '$5 & ${not-a-variable' } : { 'x-team': '$5 & more' },
      }),
      () => ({ dialect: 'azure', resource: 'torana-eu', ...given(0.5, 'apiVersion', () => '2024-10-21') }),
      () => ({ provider: 'cohere' }),
      () => ({ provider: 'amazon-bedrock', settings: { region: one(['eu-central-1', 'us-east-1']) } }),
    ])()
  const secretOf = (name: string): string => {
    if (chance(0.4)) return `sk-literal-of-${name}-0123456789`
    const variable = `${name.toUpperCase()}_SECRET`
    env[variable] = `sk-variable-of-${name}-0123456789`
    return `\${${variable}}`
  }
  const price = (kind: string): unknown =>
    one<unknown>([
      'free',
      'unpriced',
      ...(kind === 'image'
        ? [
            { usdPerImage: 0.04 },
            { usdPerImage: { '1024x1024': { high: '0.167', default: 0.03 }, default: 0.02 } },
          ]
        : [
            { usdPerMillionTokens: 0.13 },
            { usdPerMillionTokens: '0.0000001' },
            { usdPerInput: { millionTextTokens: 0.1, image: 'free' } },
          ]),
    ])
  const deployment = (upstream: string, kind: string): StoredEntry => ({
    upstream,
    ...given(0.4, 'model', () => one(['theirs', 'theirs-2'])),
    ...given(0.5, 'priority', () => whole(2)),
    ...given(0.5, 'weight', () => one([0.5, 1, 30, 70])),
    ...given(0.3, 'price', () => price(kind)),
    ...given(0.3, 'endsOn', () => one(['2027-03-01', 'none'])),
    ...given(0.3, 'capabilities', () =>
      kind === 'image' ? { maxImages: 2 } : { maxInputs: 1 + whole(99), encodings: ['float'] },
    ),
    ...given(0.4, 'limits', () => ({
      concurrency: 1 + whole(31),
      ...given(0.5, 'requestsPerMinute', () => 1 + whole(999)),
      ...given(0.3, 'tokensPerMinute', () => 1000 + whole(99_999)),
    })),
  })
  const aliases = Array.from({ length: 8 }, (_, index) => `alias-${index}`)
  const model = (id: string, upstreams: readonly string[]): StoredEntry => {
    const kind = IMAGE.includes(id) || id === 'draw' ? 'image' : 'embedding'
    const isOwn = OWN.includes(id)
    const names = chance(0.9)
      ? [...new Set([one(upstreams), ...some(upstreams)])]
      : [one(upstreams), one(upstreams)]
    return {
      ...(isOwn && { kind }),
      ...(isOwn &&
        kind === 'embedding' && {
          embedding: { dimensions: one([8, 64, 1024]), ...given(0.5, 'matryoshka', () => true) },
        }),
      ...given(0.4, 'aliases', () => aliases.splice(0, 1 + whole(1))),
      ...given(0.3, 'price', () => price(kind)),
      ...given(0.3, 'unsupported', () => 'drop'),
      ...given(0.2, 'unknownFields', () => one<unknown>(['refuse', ['task']])),
      ...(kind === 'embedding' && {
        ...given(0.4, 'cache', () => ({ ttl: one(['12h', '30d', '90s']) })),
        ...given(0.3, 'microBatch', () => ({
          maxWaitMs: whole(20),
          ...given(0.5, 'maxItems', () => 2 + whole(60)),
        })),
        ...given(0.3, 'attemptTimeoutMs', () => 1 + whole(60_000)),
        ...given(0.2, 'spaceGuard', () => false),
      }),
      deployments: names.map((upstream) => deployment(upstream, kind)),
    }
  }
  const terms = (): StoredEntry => ({
    ...given(0.5, 'limits', () => ({ requestsPerMinute: 1 + whole(500) })),
    ...given(0.5, 'budget', () => ({
      usd: one([0, 12.5, 0.000000001, 2500]),
      per: one(['day', 'month', 'total']),
      hard: chance(0.5),
    })),
  })
  const ids = [...EMBEDDING, ...IMAGE, ...OWN]
  const key = (project: string, name: string): { entry: StoredEntry; secret: string } => ({
    secret: keyFrom(
      Uint8Array.from({ length: 64 }, () => whole(255)),
      undefined,
    ),
    entry: {
      name,
      ...given(0.4, 'models', () => [one(ids), ...some(ids)]),
      ...given(0.3, 'expires', () => '2027-01-31T12:00:00.000Z'),
      ...terms(),
      ...given(0.2, 'scopes', () => ['embeddings']),
      ...given(0.2, 'maxCallsAtOnce', () => 1 + whole(20)),
      ...given(0.2, 'addresses', () => ['10.0.0.0/8', '192.0.2.7']),
    },
  })

  const declared = ['main', 'spare', 'third'].slice(0, 1 + whole(2))
  const declaredIds = ids.filter(() => chance(0.3))
  if (declaredIds.length === 0) declaredIds.push('text-embedding-3-small')
  const keySecrets: Record<string, string> = {}
  const file = {
    upstreams: Object.fromEntries(
      declared.map((name) => [name, { ...address(false), ...(chance(0.6) && { apiKey: secretOf(name) }) }]),
    ),
    models: Object.fromEntries(declaredIds.map((id) => [id, model(id, declared)])),
    ...(chance(0.5) && {
      projects: Object.fromEntries(
        some(['search', 'ads']).map((project) => [
          project,
          {
            ...terms(),
            keys: some(['ci', 'app']).map((name) => {
              const { entry, secret } = key(project, name)
              const variable = `OF_${project}_${name}`.toUpperCase()
              if (chance(0.5)) return { ...entry, models: undefined, secret }
              env[variable] = secret
              keySecrets[variable] = secret
              return { ...entry, models: undefined, secret: `\${${variable}}` }
            }),
            webhooks: some([{ url: 'https://hooks.example/x', secret: 'a-webhook-secret-of-the-file-01' }]),
          },
        ]),
      ),
    }),
    ...(chance(0.3) && { limits: { attemptTimeoutMs: 5000 } }),
  }
  const hasFile = chance(0.9)
  const text = hasFile ? textOf(file, random) : undefined
  if (!hasFile && chance(0.5)) env['OPENAI_API_KEY'] = 'sk-of-the-environment-0123'
  const surroundings = surroundingsWith(env)
  const loaded =
    text === undefined
      ? readNothing(env['OPENAI_API_KEY'], surroundings)
      : readConfig('torana.yaml', text, surroundings)

  const inForce = [...(loaded.catalog.upstreams ?? [])].map(([name]) => name)
  const stored = ['gpu-one', 'gpu.two', 'main'].filter(() => chance(0.7))
  const saved = { revision: 1n, by: 'alice', atMs: 0 }
  const everywhere = [...inForce, ...stored]
  const objects: StoredObject[] = [
    ...stored.map((name) => ({ object: 'upstream' as const, name, entry: address(true), ...saved })),
    ...ids
      .filter(() => chance(0.4))
      .map((name) => {
        const entry = model(name, everywhere)
        const known = loaded.catalog.models.get(name)
        return {
          object: 'model' as const,
          name,
          entry: known === undefined ? entry : { deployments: entry['deployments'] },
          ...saved,
        }
      }),
  ]
  const { catalog } = loaded.extend(objects)
  const prices = [...new Set(catalog.models.values())].flatMap(({ kind, deployments }) =>
    deployments
      .filter(() => chance(0.3))
      .map(({ id }) => ({ deployment: id, form: price(kind) as StoredEntry, by: 'bob', atMs: 0 })),
  )
  const credentials = new Map(
    everywhere.filter(() => chance(0.5)).map((name) => [name, `sk-of-the-store-${name}-0123456789`]),
  )
  const projects = some(['search', 'shop', 'lab']).map((name) => {
    const keys = some(['ci', 'indexer', 'web']).map((of) => key(name, of))
    return {
      name,
      entry: terms(),
      keys: keys.map(({ entry }) => entry),
      secrets: new Map(keys.map(({ entry, secret }) => [String(entry['name']), secret])),
    }
  })
  return { loaded, objects, prices, credentials, projects, env, text }
}

/** As people write it: in blocks or in braces, with comments. */
function textOf(file: object, random: () => number): string {
  const style = random()
  if (style < 0.2) return JSON.stringify(file)
  const document = new Document(JSON.parse(JSON.stringify(file)))
  if (style < 0.4) return stringify(JSON.parse(JSON.stringify(file)), { indentSeq: false })
  document.commentBefore = ' the house'
  const models: unknown = document.get('models')
  if (isMap(models))
    for (const { value, key } of models.items) {
      if (isMap(value) && random() < 0.3) value.flow = true
      if (random() < 0.3) (key as { comment?: string }).comment = ' asked for by search'
    }
  return String(document)
}
