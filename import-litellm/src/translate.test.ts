/** Tables of what stands in a LiteLLM file and what becomes of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { builtInFacts, parseSource, readConfig } from 'torana/config'
import { translate } from './translate.ts'
import { toranaYaml } from './torana-file.ts'

interface Imported {
  readonly yaml: string
  readonly left: string
  readonly mentioned: string
  readonly values: Readonly<Record<string, string | undefined>>
  readonly file: {
    readonly upstreams: Record<string, unknown>
    readonly models: Record<string, { readonly [field: string]: unknown; readonly deployments: unknown[] }>
    readonly projects?: Record<string, { readonly keys: unknown[] }>
  }
}

const NOW_MS = Date.parse('2027-01-01')

/** Translates, and loads the result as `torana check` would: whatever is carried over must be good. */
function imported(text: string): Imported {
  const config = parseSource('config.yaml', text)
  assert.notEqual(config.data, undefined)
  const { file, notes, variables } = translate(config, text, builtInFacts())
  const yaml = toranaYaml(file, 'config.yaml')
  const env = Object.fromEntries(variables.all().map(({ name, value, example }) => [name, value ?? example]))
  const surroundings = {
    env,
    readFile: String,
    facts: builtInFacts(),
    bootstrapKey: undefined,
    nowMs: NOW_MS,
  }
  if (file.models.size > 0) readConfig('torana.yaml', yaml, surroundings)
  return {
    yaml,
    left: notes.left().join('\n'),
    mentioned: notes.mentioned().join('\n'),
    values: Object.fromEntries(variables.all().map(({ name, value }) => [name, value])),
    file: parse(yaml) as Imported['file'],
  }
}

const deployment = (params: string, info = '{ mode: embedding }', name = 'embed') =>
  `  - { model_name: ${name}, litellm_params: { ${params} }, model_info: ${info} }\n`
const modelList = (...entries: readonly string[]) => `model_list:\n${entries.join('')}`

/** One deployment, its upstream and the facts of its model. */
const HOMES: readonly (readonly [
  string,
  Readonly<Record<string, unknown>>,
  string | undefined,
  string | undefined,
])[] = [
  [
    'model: text-embedding-3-small',
    { provider: 'openai', apiKey: '${OPENAI_API_KEY}' },
    'text-embedding-3-small',
    undefined,
  ],
  [
    'model: openai/text-embedding-3-small, api_base: "https://api.openai.com/v1/", api_key: os.environ/K',
    { provider: 'openai', apiKey: '${K}' },
    'text-embedding-3-small',
    undefined,
  ],
  [
    'model: azure/text-embedding-3-large, api_base: "https://me.openai.azure.com/", api_version: 2024-10-21',
    { dialect: 'azure', resource: 'me', apiKey: '${AZURE_API_KEY}', apiVersion: '2024-10-21' },
    'text-embedding-3-large',
    undefined,
  ],
  [
    'model: azure/text-embedding-3-large, api_base: "https://apim.example.com/x/openai/deployments/d?api-version=2024-02-01", api_key: none',
    { dialect: 'azure', baseUrl: 'https://apim.example.com/x', apiKey: 'none', apiVersion: '2024-02-01' },
    'text-embedding-3-large',
    undefined,
  ],
  [
    'model: BAAI/bge-m3, custom_llm_provider: hosted_vllm, api_base: "http://gpu:8000/v1/embeddings"',
    { provider: 'vllm', baseUrl: 'http://gpu:8000/v1' },
    'BAAI/bge-m3',
    undefined,
  ],
  ['model: ollama/nomic-embed-text', { provider: 'ollama' }, 'nomic-embed-text', undefined],
  [
    'model: ollama/nomic-embed-text, api_base: os.environ/OLLAMA',
    { provider: 'ollama', baseUrl: '${OLLAMA}/v1' },
    'nomic-embed-text',
    undefined,
  ],
  [
    'model: openrouter/openai/text-embedding-3-small',
    { dialect: 'openai', baseUrl: 'https://openrouter.ai/api/v1', apiKey: '${OPENROUTER_API_KEY}' },
    'text-embedding-3-small',
    'openai/text-embedding-3-small',
  ],
  [
    'model: dashscope/text-embedding-v4, api_base: "https://dashscope.aliyuncs.com/compatible-mode/v1"',
    {
      dialect: 'openai',
      baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
      apiKey: '${DASHSCOPE_API_KEY}',
    },
    'text-embedding-v4',
    'text-embedding-v4',
  ],
  [
    'model: bedrock/us-west-2/amazon.titan-embed-text-v1, aws_region_name: us-west-2, api_key: os.environ/BEDROCK',
    { provider: 'amazon-bedrock', apiKey: '${BEDROCK}', settings: { region: 'us-west-2' } },
    'amazon.titan-embed-text-v1',
    undefined,
  ],
  [
    'model: vertex_ai/text-embedding-005',
    { provider: 'google-vertex', settings: { project: '${VERTEXAI_PROJECT}', location: 'us-central1' } },
    'text-embedding-005',
    undefined,
  ],
]
for (const [params, upstream, facts, model] of HOMES) {
  test(`{ ${params} } finds its upstream, its facts and its name there`, () => {
    const { file } = imported(modelList(deployment(params)))
    const [name = ''] = Object.keys(file.upstreams)
    assert.deepEqual(file.upstreams[name], upstream)
    assert.equal(file.models['embed']?.['facts'], facts)
    const [first] = file.models['embed']?.deployments ?? []
    assert.equal((first as { model?: string }).model, model)
  })
}

const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ['chat models', '{ mode: chat }', /mode chat: Torana serves embeddings and images/],
  [
    'image models without facts',
    '{ mode: image_generation }',
    /an image model that Torana has no facts about/,
  ],
  ['blocked models', '{ mode: embedding, blocked: true }', /is blocked/],
  ['models of one team', '{ mode: embedding, team_id: t }', /belongs to one team/],
]
for (const [what, info, reason] of REFUSED) {
  test(`${what} are left behind with a reason`, () => {
    const { left, file } = imported(modelList(deployment('model: openai/text-embedding-3-small', info)))
    assert.match(left, reason)
    assert.match(left, /config\.yaml:2 {2}embed/)
    assert.equal(file?.models, undefined)
  })
}

const UNPLACED: readonly (readonly [string, RegExp])[] = [
  ['model: sagemaker/x', /no provider like LiteLLM's sagemaker/],
  ['model: huggingface/BAAI/bge-m3', /has no api_base/],
  ['model: openai/x, api_base: "ftp://x"', /no http address/],
  ['model: openai/x, api_base: "https://user:word@x/v1"', /holds credentials/],
  ['model: openai/x, api_base: "https://x/v1?a=b"', /has a \? or #/],
  ['model: os.environ/MODEL', /comes from a variable/],
  ['model: "openai/*"', /wildcards/],
  ['api_base: http://x', /needs a model_name and litellm_params/],
]
for (const [params, reason] of UNPLACED) {
  test(`{ ${params} } can't be placed, and is told so`, () => {
    const { left } = imported(modelList(deployment(params)))
    assert.match(left, reason)
    assert.doesNotMatch(left, /word/)
  })
}

test('vectors of two models never meet under one name', () => {
  const { file, left } = imported(
    modelList(
      deployment('model: openai/text-embedding-3-small'),
      deployment('model: openai/text-embedding-ada-002'),
      deployment('model: azure/anything, api_base: "https://me.openai.azure.com"'),
    ),
  )
  assert.equal(file.models['embed']?.['facts'], 'text-embedding-3-small')
  assert.equal(file.models['embed']?.deployments.length, 2)
  assert.match(
    left,
    /another model than text-embedding-3-small.*\n.*config\.yaml:3 {2}embed: openai\/text-embedding-ada-002/,
  )
})

test("a model that only borrows a known name does not get that name's facts", () => {
  const own = 'model: openai/my-bert, api_base: "http://bert/v1"'
  const { file } = imported(
    modelList(deployment(own, '{ mode: embedding, output_vector_size: 384 }', 'text-embedding-ada-002')),
  )
  assert.deepEqual(file.models['my-bert']?.['aliases'], ['text-embedding-ada-002'])
  assert.deepEqual(file.models['my-bert']?.['embedding'], { dimensions: 384 })
  const disguised = imported(
    modelList(deployment('model: cohere/embed-english-v3.0', '{}', 'text-embedding-ada-002')),
  )
  assert.equal(disguised.file.models['text-embedding-ada-002']?.['facts'], 'embed-english-v3.0')
})

test('a width that nobody wrote down is asked for', () => {
  const { file, values } = imported(modelList(deployment('model: openai/x, api_base: "http://x/v1"')))
  assert.deepEqual(file.models['embed']?.['embedding'], { dimensions: '${EMBED_DIMENSIONS}' })
  assert.ok('EMBED_DIMENSIONS' in values)
})

test('secrets stand in no file but as references, and each secret has one name', () => {
  const secret = 'sk-very-secret-0123456789'
  const text = modelList(
    deployment(`model: openai/text-embedding-3-small, api_key: ${secret}`),
    deployment(`model: openai/text-embedding-3-large, api_key: ${secret}`, '{}', 'large'),
    deployment(
      `model: openai/x, api_base: "http://x/v1", extra_headers: { Authorization: Bearer ${secret}, X-Team: a$b }`,
      '{ mode: embedding }',
      'own',
    ),
  )
  const { yaml, values, left, mentioned, file } = imported(
    `${text}general_settings: { master_key: ${secret}-master }\n`,
  )
  assert.ok(![yaml, left, mentioned].some((part) => part.includes(secret)))
  assert.deepEqual(values, {
    LITELLM_OPENAI_API_KEY: secret,
    LITELLM_X_AUTHORIZATION: `Bearer ${secret}`,
    OWN_DIMENSIONS: undefined,
    LITELLM_MASTER_KEY: `${secret}-master`,
  })
  assert.deepEqual((file.upstreams['x'] as { headers: unknown }).headers, {
    Authorization: '${LITELLM_X_AUTHORIZATION}',
    'X-Team': 'a$$b',
  })
})

test('a made-up name never takes over a variable that LiteLLM reads', () => {
  const { values } = imported(
    modelList(
      deployment('model: openai/text-embedding-3-small, api_key: sk-literal'),
      deployment(
        'model: openai/text-embedding-3-large, api_key: os.environ/LITELLM_OPENAI_API_KEY',
        '{}',
        'large',
      ),
    ),
  )
  assert.deepEqual(values, { LITELLM_OPENAI_API_KEY_2: 'sk-literal', LITELLM_OPENAI_API_KEY: undefined })
})

test('what LiteLLM sets for itself is the value of its variable', () => {
  const { values, left } = imported(
    `${modelList(deployment('model: text-embedding-3-small'))}environment_variables: { OPENAI_API_KEY: sk-x, REDIS_HOST: h }\n`,
  )
  assert.deepEqual(values, { OPENAI_API_KEY: 'sk-x' })
  assert.match(left, /does not need\n.*REDIS_HOST/)
})

test('the master key becomes a key of project default, and one that can be guessed stays behind', () => {
  const list = modelList(deployment('model: text-embedding-3-small'))
  const { file } = imported(`${list}general_settings: { master_key: os.environ/LITELLM_MASTER_KEY }\n`)
  assert.deepEqual(file.projects, {
    default: { keys: [{ name: 'litellm-master-key', secret: '${LITELLM_MASTER_KEY}' }] },
  })
  const guessed = imported(`${list}general_settings: { master_key: sk-1234 }\n`)
  assert.equal(guessed.file.projects, undefined)
  assert.match(guessed.left, /24 characters or more.*\n.*general_settings\.master_key/)
  assert.match(imported(list).mentioned, /TORANA_BOOTSTRAP_KEY.*\n.*no general_settings\.master_key/)
})

test('drop_params, aliases and fallbacks within one vector space are carried over, others are not', () => {
  const { file, left } = imported(`${modelList(
    deployment('model: openai/text-embedding-3-small', '{}', 'small'),
    deployment(
      'model: azure/s, api_base: "https://me.openai.azure.com"',
      '{ base_model: text-embedding-3-small }',
      'small-azure',
    ),
    deployment('model: openai/text-embedding-3-large, drop_params: true', '{}', 'large'),
  )}router_settings:
  model_group_alias: { search: small, taken: { model: large, hidden: true }, small: large, chat: gpt-4o }
  fallbacks: [{ small: [small-azure, large] }, { gpt-4o: [small] }]
`)
  assert.deepEqual(file.models['small']?.['aliases'], ['search'])
  assert.deepEqual(file.models['large']?.['aliases'], ['taken'])
  assert.deepEqual(
    [file.models['small']?.['unsupported'], file.models['large']?.['unsupported']],
    [undefined, 'drop'],
  )
  assert.deepEqual(file.models['small']?.deployments, [
    { upstream: 'openai' },
    { upstream: 'azure-me', model: 's', priority: 1 },
  ])
  assert.match(left, /fallbacks to another model.*\n.*small → large/)
  assert.match(left, /not carried over\n.*gpt-4o → small/)
  assert.match(left, /already\n.*small → large/)
})

test('every setting that stays behind is named with its line', () => {
  const { left } =
    imported(`${modelList(deployment('model: text-embedding-3-small, rpm: 10, dimensions: 256, made_up: 1'))}
litellm_settings: { cache: true, set_verbose: false, made_up: 1 }
router_settings: { routing_strategy: least-busy }
general_settings: { database_url: os.environ/DATABASE_URL, master_key: sk-1234 }
guardrails: [x]
`)
  for (const name of ['embed: rpm', 'embed: dimensions: 256', 'embed: made_up'])
    assert.match(left, new RegExp(`config.yaml:2 +${name}`))
  for (const name of ['litellm_settings.cache', 'litellm_settings.made_up'])
    assert.match(left, new RegExp(`config.yaml:4 +${name}`))
  for (const name of ['router_settings.routing_strategy', 'general_settings.master_key', 'guardrails'])
    assert.match(left, new RegExp(name))
  assert.doesNotMatch(left, /set_verbose/)
})

test('image models that Torana knows are carried over, with the price of the file', () => {
  const { file, left } = imported(
    modelList(
      deployment('model: openai/gpt-image-2', '{ mode: image_generation }', 'pictures'),
      deployment(
        'model: azure/my-pictures, api_base: "https://me.openai.azure.com", output_cost_per_image: 0.04',
        '{ mode: image_edit, base_model: azure/gpt-image-2 }',
        'pictures',
      ),
      deployment('model: xai/grok-imagine-image', '{}', 'grok'),
    ),
  )
  assert.equal(left, '')
  assert.equal(file.models['pictures']?.['facts'], 'gpt-image-2')
  assert.deepEqual(file.models['pictures']?.deployments, [
    { upstream: 'openai' },
    { upstream: 'azure-me', model: 'my-pictures', price: { usdPerImage: 0.04 } },
  ])
  assert.deepEqual(file.upstreams['xai'], { provider: 'xai', apiKey: '${XAI_API_KEY}' })
})

test('an image model and an embedding model never share a name', () => {
  const { file, left } = imported(
    modelList(
      deployment('model: openai/text-embedding-3-small'),
      deployment('model: openai/gpt-image-2', '{ mode: image_generation }'),
    ),
  )
  assert.equal(file.models['embed']?.deployments.length, 1)
  assert.match(left, /another model than text-embedding-3-small/)
})

test('rates become limits where the router of LiteLLM enforces them, and only there', () => {
  const list = modelList(deployment('model: openai/text-embedding-3-small, rpm: 600, tpm: 1000000'))
  for (const router of [
    'router_settings: { routing_strategy: usage-based-routing-v2 }',
    'router_settings: { optional_pre_call_checks: [enforce_model_rate_limits] }',
  ]) {
    const { file, left } = imported(`${list}${router}`)
    assert.deepEqual(file.models['embed']?.deployments, [
      { upstream: 'openai', limits: { requestsPerMinute: 600, tokensPerMinute: 1_000_000 } },
    ])
    assert.doesNotMatch(left, /rpm|tpm/)
  }
  const { file, left } = imported(list)
  assert.deepEqual(file.models['embed']?.deployments, [{ upstream: 'openai' }])
  assert.match(left, /embed: rpm/)
})

test('the cache is carried over where the file says for how long, to embedding models only', () => {
  const list = modelList(
    deployment('model: openai/text-embedding-3-small'),
    deployment('model: openai/gpt-image-2', '{ mode: image_generation }', 'pictures'),
  )
  const { file, left, mentioned } = imported(
    `${list}litellm_settings: { cache: true, cache_params: { type: redis, ttl: 3600 } }`,
  )
  assert.deepEqual(file.models['embed']?.['cache'], { ttl: '3600s' })
  assert.equal(file.models['pictures']?.['cache'], undefined)
  assert.equal(left, '')
  assert.match(mentioned, /CACHE_URL/)

  const others = [
    '{ cache: true }',
    '{ cache: true, cache_params: { ttl: 60, supported_call_types: [acompletion] } }',
  ]
  for (const settings of others) {
    const other = imported(`${list}litellm_settings: ${settings}`)
    assert.equal(other.file.models['embed']?.['cache'], undefined)
    assert.match(other.left, /litellm_settings\.cache/)
  }
})
