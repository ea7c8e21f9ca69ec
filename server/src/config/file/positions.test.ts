import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf } from '#test/support/config.ts'
import { readFacts } from '../build/facts.ts'
import { readConfig } from '../load.ts'
import type { Environment } from './variable.ts'

const facts = readFacts([
  {
    name: 'catalog/acme.yaml',
    text: `
provider: acme
factSource: { source: a test, asOf: 2026-11-18 }
name: Acme
dialect: openai
baseUrl: https://api.acme.test/v1
models:
  acme-embed:
    kind: embedding
    embedding: { dimensions: 8 }
`,
  },
  {
    name: 'catalog/amazon-bedrock.yaml',
    text: `
provider: amazon-bedrock
factSource: { source: a test, asOf: 2026-11-18 }
name: Amazon Bedrock
dialect: ai-sdk
models: {}
`,
  },
])

function problemsIn(text: string, env: Environment = {}): readonly string[] {
  const readFile = () => assert.fail('there are no files')
  return problemsOf(() =>
    readConfig('t.yaml', text, { env, readFile, facts, bootstrapKey: 'b1234567'.repeat(3), nowMs: 0 }),
  )
}

/** A file that is valid except for `models`. */
const withModel = (fields: string) => `
upstreams:
  acme: { provider: acme }
models:
  acme-embed:
    ${fields.replaceAll('\n', '\n    ')}
`

const withUpstream = (fields: string) => `
upstreams:
  it: ${fields}
models:
  m: { kind: embedding, embedding: { dimensions: 4 }, deployments: [{ upstream: it }] }
`

const withKey = (key: string) => `
upstreams: { acme: { provider: acme } }
models: { acme-embed: { deployments: [{ upstream: acme }] } }
projects:
  p:
    keys:
      - ${key}
`

const NO_FACTS =
  'For a model of your own write kind: embedding and embedding: { dimensions: <width of its vectors> }, or kind: image'

const table: Record<string, [text: string, expected: string[], env?: Environment]> = {
  'YAML syntax': [
    'a: [1\nb: 2',
    ['t.yaml:1:4: this [ is never closed\n    1 | a: …\n      |    ^\n    2 | b: …'],
  ],
  'a brace that is never closed, on the line before': [
    'upstreams:\n  it: { provider: acme, apiKey: "}"\nmodels:\n  m: { deployments: [{ upstream: it }] }\n',
    [
      't.yaml:2:7: this { is never closed\n    1 | upstreams:\n    2 |   it: …\n      |       ^\n    3 | models:',
    ],
  ],
  'a brace in a list that is closed': [
    'a: [1, { b: 2]\nc: 1\n',
    ['t.yaml:1:8: this { is never closed\n    1 | a: …\n      |        ^\n    2 | c: …'],
  ],
  'a second document': [
    'a: 1\n---\nb: 2\n',
    [
      't.yaml:2:1: the file has several documents: keep one\n    1 | a: …\n    2 |  …\n      | ^\n    3 | b: …',
    ],
  ],
  'an unknown tag': [
    'limits: !vault x',
    ['t.yaml:1:9: Unresolved tag: !vault\n    1 | limits: …\n      |         ^'],
  ],
  'a tab': [
    'a:\n\tb: 1',
    ['t.yaml:2:1: a tab cannot indent: use spaces\n    1 | a:\n    2 | →b: …\n      | ^'],
  ],
  'a wrong indentation, without the values of secrets': [
    'a:\n  secret: sk-1\n   b: sk-2\n',
    [
      't.yaml:2:11: check the indentation: the fields of one mapping start in the same column\n    1 | a:\n    2 |   secret: …\n      |           ^\n    3 |    b: …',
    ],
  ],
  'a configuration of LiteLLM': [
    'model_list: []\nupstreams: { demo: { dialect: demo } }\nmodels: { demo-embed: { deployments: [{ upstream: demo }] } }',
    [
      't.yaml:1:1 model_list: a field of LiteLLM. `torana import litellm <file>` turns a LiteLLM configuration into a torana.yaml',
    ],
  ],
  'not a mapping': ['- 1', ['t.yaml:1:1: expected a mapping, got a list']],
  'an empty file': [
    '',
    [
      't.yaml:1:1 models: there are none. With a file, the demo models are off. Declare a model, or start without a file',
    ],
  ],
  'a repeated key': [
    withModel('deployments: [{ upstream: acme }]\nprice: free\nprice: free'),
    ['t.yaml:8:5 models.acme-embed.price: appears twice: keep one'],
  ],
  'an unknown section': [
    'model: {}\n',
    [
      't.yaml:1:1 model: unknown field. Did you mean models?',
      't.yaml:1:1 models: there are none. With a file, the demo models are off. Declare a model, or start without a file',
    ],
  ],
  'an unknown field': [
    withModel('deployments:\n  - upstream: acme\n    max_inputs: 5'),
    [
      't.yaml:8:9 models.acme-embed.deployments[0].max_inputs: unknown field. Known here: upstream, model, priority, weight, capabilities, price, answersAs, endsOn, successor, endSource, limits',
    ],
  ],
  'a field in another spelling': [
    withUpstream('{ dialect: openai, base_url: http://x }'),
    ['t.yaml:3:26 upstreams.it.base_url: unknown field. Did you mean baseUrl?'],
  ],
  'a missing field': [
    withModel('deployments:\n  - model: x'),
    ['t.yaml:7:9 models.acme-embed.deployments[0].upstream: is missing. Name of an upstream in this file.'],
  ],
  'a mapping where a text belongs': [
    withUpstream('\n    provider:\n      name: acme'),
    ['t.yaml:4:5 upstreams.it.provider: expected text, got a mapping'],
  ],
  'a value left empty': [
    withUpstream('{ dialect: openai, baseUrl: }'),
    ['t.yaml:3:26 upstreams.it.baseUrl: expected text, got nothing'],
  ],
  'a number for a text': [
    withKey('{ name: 5, secret: abcdefghijklmnopqrstuvwx }'),
    ['t.yaml:7:17 projects.p.keys[0].name: expected text, got a number: put it in quotes'],
  ],
  'a word that is no choice': [
    withModel('unsupported: refuze\ndeployments: [{ upstream: acme }]'),
    [
      't.yaml:6:18 models.acme-embed.unsupported: expected refuse or drop, got "refuze". Did you mean refuse?',
    ],
  ],
  'a number out of bounds': [
    withModel('deployments: [{ upstream: acme, capabilities: { maxInputs: 0 } }]'),
    ['t.yaml:6:64 models.acme-embed.deployments[0].capabilities.maxInputs: must be at least 1, got 0'],
  ],
  'a price that is none': [
    withModel('price: { usdPerMillionTokens: 0 }\ndeployments: [{ upstream: acme, price: fre }]'),
    [
      't.yaml:6:35 models.acme-embed.price.usdPerMillionTokens: expected dollars such as 0.02, above zero (else write free), with at most nine decimals',
      't.yaml:7:44 models.acme-embed.deployments[0].price: expected free, unpriced or a mapping, got "fre". Did you mean free?',
    ],
  ],
  'a range upside down': [
    withModel('deployments: [{ upstream: acme, capabilities: { dimensions: { min: 9, max: 8 } } }]'),
    ['t.yaml:6:72 models.acme-embed.deployments[0].capabilities.dimensions.min: must not be above max'],
  ],
  'an input type rule without values': [
    withModel('embedding: { inputType: { field: task, values: {} } }\ndeployments: [{ upstream: acme }]'),
    [
      't.yaml:6:52 models.acme-embed.embedding.inputType.values: name at least one of query, document, classification, clustering, similarity',
    ],
  ],
  'a default that the rule does not have': [
    withModel(
      "embedding: { inputType: { prefixes: { query: 'q: ' }, default: document } }\ndeployments: [{ upstream: acme }]",
    ),
    ['t.yaml:6:68 models.acme-embed.embedding.inputType.default: must be one of those under `prefixes`'],
  ],
  'a name that can not travel': [
    withUpstream('{ dialect: openai, baseUrl: http://x }')
      .replaceAll(' it:', ' "i t":')
      .replaceAll('upstream: it', 'upstream: i t'),
    ['t.yaml:3:3 upstreams["i t"]: a name is letters, digits, dots, dashes or underscores, at most 63'],
  ],
  'an unset variable in braces': [
    withUpstream('{ dialect: openai, baseUrl: http://x, apiKey: ${KEY} }'),
    [
      't.yaml:3:53 upstreams.it.apiKey: KEY is not set: set KEY or KEY_FILE, or write a default as in ${KEY:-default}',
    ],
  ],
  'an unset variable where a URL belongs': [
    withUpstream('{ dialect: openai, baseUrl: "${URL:?ask ops, they know: #42}" }'),
    ['t.yaml:3:35 upstreams.it.baseUrl: URL is not set: ask ops, they know: #42'],
  ],
  'a reference in a key': [
    withUpstream('{ dialect: openai, baseUrl: http://x, headers: { "${H}": x } }'),
    ['t.yaml:3:56 upstreams.it.headers.${H}: a key cannot contain a variable; only values can'],
  ],
  'a variable that is no number': [
    `${withModel('deployments: [{ upstream: acme }]')}limits: { maxInputs: "\${N}" }\n`,
    ['t.yaml:7:22 limits.maxInputs: expected a number, got text'],
    { N: 'many' },
  ],
  'limits of one request above those of all': [
    `${withModel('deployments: [{ upstream: acme }]')}limits: { bodyBytes: 10000000, editsBodyBytes: 99999999999 }\n`,
    [
      't.yaml:7:1 limits.uploadBytes: must not be below editsBodyBytes, which is 99999999999',
      't.yaml:7:22 limits.bodyBytes: must not be below editsJsonBytes, which is 33554432',
    ],
  ],
  'a lifetime that is none, and a budget without dollars': [
    `${withModel('cache: { ttl: soon }\ndeployments: [{ upstream: acme }]')}projects: { p: { budget: {} } }\n`,
    [
      't.yaml:6:19 models.acme-embed.cache.ttl: expected a time such as 30d, 12h, 90m or 45s',
      't.yaml:8:18 projects.p.budget.usd: is missing. Dollars that may be spent in one period.',
    ],
  ],
  'webhooks that could not be trusted': [
    `${withModel('deployments: [{ upstream: acme }]')}projects: { p: { webhooks: [{ url: "https://hooks.example.com", secret: short }, { url: "https://x.example.com", secret: "${'s1234567'.repeat(3)}", events: [image.done] }] } }\n`,
    [
      't.yaml:7:73 projects.p.webhooks[0].secret: a secret needs 24 characters or more: short ones can be guessed',
      't.yaml:7:159 projects.p.webhooks[1].events[0]: expected image.job.succeeded, image.job.failed, image.job.unknown, batch.completed, batch.failed, batch.expired, batch.cancelled, budget.reached or space.suspect, got "image.done"',
    ],
  ],
  'a webhook in the open': [
    `${withModel('deployments: [{ upstream: acme }]')}projects: { p: { webhooks: [{ url: "http://hooks.example.com", secret: "${'s1234567'.repeat(3)}" }] } }\n`,
    ['t.yaml:7:36 projects.p.webhooks[0].url: must begin with https: (or write private: true)'],
  ],
  'a model without facts': [
    withModel('deployments: [{ upstream: acme }]').replace('acme-embed', 'acme-embad'),
    [
      `t.yaml:5:3 models.acme-embad: there are no built-in facts about acme-embad. Did you mean acme-embed? ${NO_FACTS}`,
    ],
  ],
  'a model without facts that only half says what it is': [
    withModel('embedding: { dimensions: 4 }\ndeployments: [{ upstream: acme }]').replace('acme-embed', 'x'),
    [`t.yaml:5:3 models.x: there are no built-in facts about x. ${NO_FACTS}`],
  ],
  'facts of an unknown model': [
    withModel('facts: nobody\ndeployments: [{ upstream: acme }]'),
    ['t.yaml:6:12 models.acme-embed.facts: there are no built-in facts about nobody.'],
  ],
  'no deployments': [
    withModel('deployments: []'),
    ['t.yaml:6:18 models.acme-embed.deployments: needs at least one entry'],
  ],
  'an unknown upstream': [
    withModel('deployments: [{ upstream: acne }]'),
    ['t.yaml:6:31 models.acme-embed.deployments[0].upstream: there is no upstream acne. Did you mean acme?'],
  ],
  'a deployment twice': [
    withModel(
      'deployments:\n  - { upstream: acme }\n  - { upstream: acme, model: x }\n  - { upstream: acme, weight: 2 }',
    ),
    [
      't.yaml:9:9 models.acme-embed.deployments[2]: deploys acme-embed on acme twice: use weight to give it a larger share',
    ],
  ],
  'aliases that are taken': [
    `${withModel('aliases: [a, other, a]\ndeployments: [{ upstream: acme }]')}  other: { facts: acme-embed, aliases: [a], deployments: [{ upstream: acme }] }\n`,
    [
      't.yaml:6:18 models.acme-embed.aliases[1]: other is already the id of a model',
      't.yaml:6:25 models.acme-embed.aliases[2]: a is already an alias of acme-embed',
      't.yaml:8:41 models.other.aliases[0]: a is already an alias of acme-embed',
    ],
  ],
  'an unknown provider': [
    withUpstream('{ provider: acne }'),
    [
      't.yaml:3:19 upstreams.it.provider: there is no provider acne. Did you mean acme? For your own server, leave provider out and set dialect and baseUrl',
    ],
  ],
  'no dialect': [
    withUpstream('{ baseUrl: http://x }'),
    [
      't.yaml:3:3 upstreams.it.dialect: is missing: write dialect (openai for an OpenAI-compatible server) or provider',
    ],
  ],
  'no address': [
    withUpstream('{ dialect: openai }'),
    [
      't.yaml:3:3 upstreams.it.baseUrl: is missing: the address of the server, such as http://localhost:8080/v1',
    ],
  ],
  'no Azure resource': [
    withUpstream('{ dialect: azure }'),
    ['t.yaml:3:3 upstreams.it.resource: is missing: the name of your Azure resource, or baseUrl'],
  ],
  'a setting that would choose the host': [
    withUpstream('{ provider: amazon-bedrock, settings: { region: "attacker.example/x?" } }'),
    [
      't.yaml:3:55 upstreams.it.settings.region: becomes part of the host that calls go to, and cannot be one: expected an AWS region such as eu-central-1',
    ],
  ],
  'a setting of the host that is not a text': [
    withUpstream('{ provider: amazon-bedrock, settings: { region: 1 } }'),
    [
      't.yaml:3:55 upstreams.it.settings.region: becomes part of the host that calls go to, and cannot be one: expected an AWS region such as eu-central-1',
    ],
  ],
  'an ai-sdk upstream without provider': [
    withUpstream('{ dialect: ai-sdk }'),
    ['t.yaml:3:3 upstreams.it.provider: is missing: Torana needs it to choose the provider package'],
  ],
  'fields that a dialect would ignore': [
    withUpstream('{ dialect: openai, baseUrl: http://x, resource: r, apiVersion: v1, settings: {} }'),
    [
      't.yaml:3:55 upstreams.it.resource: has no meaning for dialect openai: remove it',
      't.yaml:3:70 upstreams.it.apiVersion: has no meaning for dialect openai: remove it',
      't.yaml:3:84 upstreams.it.settings: has no meaning for dialect openai: remove it',
    ],
  ],
  'credentials in an address': [
    withUpstream('{ dialect: openai, baseUrl: "http://u:hunter2@x" }'),
    ['t.yaml:3:35 upstreams.it.baseUrl: put credentials into apiKey or headers, not into the URL'],
  ],
  'a short key': [
    withKey('{ name: a, secret: short }'),
    [
      't.yaml:7:28 projects.p.keys[0].secret: a key needs at least 24 characters, because short ones can be guessed; this one has 5',
    ],
  ],
  'a mistyped key': [
    withKey(`{ name: a, secret: tr_${'x'.repeat(32)}_00000000 }`),
    [
      't.yaml:7:28 projects.p.keys[0].secret: starts like a Torana key, but its checksum is wrong. Was it cut off or mistyped?',
    ],
  ],
  'a secret that two keys share': [
    withKey(
      `{ name: a, secret: ${'b1234567'.repeat(3)} }\n      - { name: c, secret: ${'c1234567'.repeat(3)} }\n      - { name: c, secret: ${'c1234567'.repeat(3)} }`,
    ),
    [
      't.yaml:7:28 projects.p.keys[0].secret: is the same secret as TORANA_BOOTSTRAP_KEY: each key needs its own',
      't.yaml:9:17 projects.p.keys[2].name: c is already a key of this project',
      't.yaml:9:28 projects.p.keys[2].secret: is the same secret as key c of project p: each key needs its own',
    ],
  ],
  'a key for an unknown model': [
    withKey(`{ name: a, secret: ${'a1234567'.repeat(3)}, models: [acme-embd] }`),
    ['t.yaml:7:63 projects.p.keys[0].models[0]: there is no model acme-embd. Did you mean acme-embed?'],
  ],
  'a day that is none': [
    withKey(`{ name: a, secret: ${'a1234567'.repeat(3)}, expires: 2027-02-29 }`),
    ['t.yaml:7:63 projects.p.keys[0].expires: is no moment of the calendar'],
  ],
  'a retired id that is served, and an unknown successor': [
    `${withModel('deployments: [{ upstream: acme }]')}retired:\n  acme-embed: { on: 2026-01-01, successor: acme-embod }\n`,
    [
      't.yaml:8:3 retired.acme-embed: is also declared under models: keep one of the two',
      't.yaml:8:44 retired.acme-embed.successor: there is no model acme-embod. Did you mean acme-embed?',
    ],
  ],
  'the built-in project': [
    withKey(`{ name: a, secret: ${'a1234567'.repeat(3)} }`).replace('  p:', '  system:'),
    ['t.yaml:5:3 projects.system: is the name of a built-in project: choose another name'],
  ],
}

for (const [name, [text, expected, env]] of Object.entries(table)) {
  test(`${name} is reported with its place`, () => assert.deepEqual(problemsIn(text, env), expected))
}

test('one run tells of schema, variable and reference faults, also behind a faulty list entry', () => {
  const text = `
upstreams:
  acme: { provider: acme, apiKey: \${NOWHERE} }
models:
  acme-embed:
    unsuported: drop
    deployments:
      - { weight: 1 }
      - { upstream: nowhere }
`
  assert.deepEqual(
    problemsIn(text).map((problem) => problem.split(':').slice(1, 3).join(':')),
    [
      '3:35 upstreams.acme.apiKey',
      '6:5 models.acme-embed.unsuported',
      '8:9 models.acme-embed.deployments[0].upstream',
      '9:21 models.acme-embed.deployments[1].upstream',
    ],
  )
})

test('values out of variables are never repeated', () => {
  const text = withModel('unsupported: ${SECRET}\ndeployments: [{ upstream: acme, weight: "${SECRET}" }]')
  const problems = problemsIn(text, { SECRET: 'hunter2' })
  assert.equal(problems.length, 2)
  assert.ok(problems.every((problem) => !problem.includes('hunter2')))
})
