import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Command } from '../command/command.ts'
import { runCommand } from '../command/run.ts'
import { check } from './check.ts'
import { init } from './init.ts'
import { schema } from './schema.ts'

// `check` warns of variables that it does not know, and tests have some.
for (const name of Object.keys(process.env)) if (name.startsWith('TORANA_TEST_')) delete process.env[name]

async function outcome(command: Command, ...argv: string[]) {
  const written = { stdout: '', stderr: '' }
  const code = await runCommand(command, argv, {
    stdout: { write: (text) => void (written.stdout += text) },
    stderr: { write: (text) => void (written.stderr += text) },
  })
  return { code, ...written }
}

/** A file in a folder of its own, and the environment that the test needs. */
function place(context: TestContext, text: string, env: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'torana-check-'))
  const before = { ...process.env }
  Object.assign(process.env, env)
  context.after(() => {
    rmSync(folder, { recursive: true })
    process.env = before
  })
  const file = join(folder, 'torana.yaml')
  writeFileSync(file, text)
  return file
}

test('what init prints is good as soon as there is a key, and check says what it means', async (context) => {
  const starter = await outcome(init)
  assert.match(starter.stdout, /^# yaml-language-server: \$schema=/)
  const file = place(context, starter.stdout, { OPENAI_API_KEY: 'sk-test' })
  const { code, stdout, stderr } = await outcome(check, file)
  assert.equal(code, 0)
  assert.match(stderr, /^projects: no key is declared.*\(warning\)\n$/)
  assert.match(stdout, /2 models, 2 deployments, 0 keys/)
  assert.match(stdout, /^text-embedding-3-small +text-embedding-3-small\/openai .* native .* 0\.02$/m)
})

test('a variable that Torana does not know is a warning, with or without a good file', async (context) => {
  const env = { TORANA_DATADIR: '/x', OPENAI_API_KEY: 'sk-test' }
  const warning =
    /^TORANA_DATADIR: Torana has no such variable and ignores it\. Did you mean TORANA_DATA_DIR\? \(warning\)$/m
  const file = place(context, (await outcome(init)).stdout, env)
  const good = await outcome(check, file)
  assert.equal(good.code, 0, good.stderr)
  assert.match(good.stderr, warning)
  writeFileSync(file, 'models: 1')
  const bad = await outcome(check, file)
  assert.equal(bad.code, 1)
  assert.match(bad.stderr, warning)
  assert.doesNotMatch((await outcome(check, file, '--no-env')).stderr, warning)
})

test('what init offers in comments is good too', async (context) => {
  const { stdout } = await outcome(init)
  // Uncommented are the lines whose text is YAML: a key, or an entry of a list.
  const whole = stdout
    .replaceAll(/^( *)# ((?: *)(?:- )?[a-zA-Z0-9-]+:(?: .*)?)$/gm, '$1$2')
    .replace(/^yaml-language.*$/m, '')
  const env = {
    OPENAI_API_KEY: 'sk-test',
    AZURE_API_KEY: 'az',
    SEARCH_CI_KEY: 's1234567'.repeat(3),
    FINANCE_WEBHOOK_SECRET: 'w1234567'.repeat(4),
  }
  const { code, stdout: table, stderr } = await outcome(check, place(context, whole, env))
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(table, /4 models, 5 deployments, 1 key\./)
})

test('check says what image models can do and cost, in a table of their own', async (context) => {
  const file = place(
    context,
    `
upstreams:
  openai: { provider: openai, apiKey: k }
  house: { dialect: openai, baseUrl: 'http://house.test/v1' }
  together: { provider: togetherai, apiKey: k }
models:
  gpt-image-2: { deployments: [{ upstream: openai }] }
  black-forest-labs/FLUX.1-schnell: { deployments: [{ upstream: together }] }
  mine:
    kind: image
    aliases: [pictures]
    price: { usdPerImage: { 512x512: 0.01, default: 0.04 } }
    deployments: [{ upstream: house, model: sdxl, capabilities: { sizes: [512x512, 1x2, 2x1, 1024x1024, 4x4] } }]
`,
  )
  const { code, stdout } = await outcome(check, file)
  assert.equal(code, 0)
  assert.match(stdout, /3 models, 3 deployments/)
  assert.doesNotMatch(stdout, /token ids/, 'no table of embedding models')
  assert.match(
    stdout,
    /^gpt-image-2 .* any to 3840 an edge and 8\.3 MP, multiples of 16, ratio to 3:1 +low medium high .* 16, mask +native +5 in, 30 out\/M tokens$/m,
  )
  assert.match(stdout, /FLUX\.1-schnell \(ai-sdk\) +the upstream decides .* emulated +0\.0027\/MP$/m)
  assert.match(
    stdout,
    /^mine = pictures +mine\/house +sdxl \(openai\) +512x512 1x2 2x1 and 2 more, to 1\.0 MP +– +– +png +1 +– +emulated +0\.01–0\.04\/image$/m,
  )
})

test('every problem of file and environment is printed, and the exit code is 1', async (context) => {
  const file = place(context, 'models:\n  x: { deployments: [{ upstream: y }] }\n', {
    CONSOLE_URL: 'x',
  })
  const { code, stdout, stderr } = await outcome(check, file)
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^CONSOLE_URL: /m)
  assert.match(stderr, /torana\.yaml:2:3 models\.x: there are no built-in facts about x/)
  assert.match(stderr, /torana\.yaml:2:34 models\.x\.deployments\[0\]\.upstream: there is no upstream y/)
  assert.match(stderr, /^3 problems$/m)
})

test('a file that is not there is a problem, and too many words are a misuse', async () => {
  assert.equal((await outcome(check, '/nowhere/torana.yaml')).code, 1)
  assert.equal((await outcome(check, 'a', 'b')).code, 2)
  assert.equal((await outcome(init, 'a')).code, 2)
  assert.equal((await outcome(schema, 'a')).code, 2)
})

test('schema prints JSON', async () => {
  const { code, stdout } = await outcome(schema)
  assert.equal(code, 0)
  assert.equal((JSON.parse(stdout) as { title: string }).title, 'torana.yaml')
})

const DOUBTFUL = `
upstreams:
  openai: { provider: openai, apiKey: '\${SOME_KEY}' }
  cohere: { provider: cohere, apiKey: '\${OTHER_KEY}' }
  house: { dialect: openai, baseUrl: 'https://house.test/v1' }
models:
  text-embedding-3-small:
    cache: { ttl: 1h }
    deployments:
      - { upstream: openai, weight: 3 }
      - { upstream: cohere, model: embed-v4.0, priority: 1 }
  house-embed:
    kind: embedding
    embedding: { dimensions: 8, tokenizer: none }
    price: unpriced
    deployments: [{ upstream: house, model: m, limits: { requestsPerMinute: 60 } }]
projects:
  search:
    budget: { usd: 10, hard: true }
    webhooks: [{ url: 'https://hooks.test/x', secret: '\${HOOK_SECRET}' }]
    keys: [{ name: ci, secret: '\${CI_KEY}', models: [house-embed], limits: { tokensPerMinute: 1000 } }]
`

test('check warns of what works and is hardly meant, and shows who may spend what', async (context) => {
  const env = {
    SOME_KEY: 'k',
    OTHER_KEY: 'k',
    HOOK_SECRET: 'h'.repeat(30),
    CI_KEY: 'abcdefgh12345678abcdefgh',
  }
  const { code, stdout, stderr } = await outcome(check, place(context, DOUBTFUL, env))
  assert.equal(code, 0, stderr)
  assert.match(
    stderr,
    /deployments\[1\]: embed-v4\.0 is another model than text-embedding-3-small: .*\(warning\)$/m,
  )
  assert.match(
    stderr,
    /projects\.search\.budget: is hard, and no model .* has a price: every request is refused/,
  )
  assert.match(stderr, /upstreams\.house: has no apiKey, .*torana credentials set house/)
  assert.match(stdout, /^text-embedding-3-small\/cohere +1 +1 +– +3600 s +–$/m)
  assert.match(stdout, /^house-embed\/house +0 +1 +60 requests\/min +– +–$/m)
  assert.match(stdout, /^search +– +\$10\.00 a month, hard +https:\/\/hooks\.test\/x$/m)
  assert.match(stdout, /^ +ci +house-embed +1000 tokens\/min +–$/m)
})

test('a repository of configurations is checked without its secrets, as JSON', async (context) => {
  const file = place(context, DOUBTFUL)
  assert.equal((await outcome(check, file)).code, 1, 'the variables are not set')
  const { code, stdout, stderr } = await outcome(check, file, '--no-env', '--json')
  assert.deepEqual([code, stderr], [0, ''])
  const report = JSON.parse(stdout) as { ok: boolean; warnings: string[]; models: string[] }
  assert.deepEqual([report.ok, report.warnings.length], [true, 2])
  assert.deepEqual(report.models, ['text-embedding-3-small', 'house-embed'])
})

test('--online asks the upstreams for their models, and fails when one does not answer', async (context) => {
  const server = createServer((request, answer) => {
    answer.writeHead(request.headers.authorization === 'Bearer good' ? 200 : 401)
    const data = [
      { id: 'm' },
      { id: 'ended', shutdown_date: 1_700_000_000 },
      { id: 'odd', shutdown_date: 'soon' },
    ]
    answer.end(JSON.stringify({ object: 'list', data }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const fileWith = (key: string, model: string) =>
    place(
      context,
      `
upstreams: { house: { dialect: openai, baseUrl: 'http://127.0.0.1:${port}/v1', apiKey: ${key} } }
models:
  mine: { kind: embedding, embedding: { dimensions: 8 }, price: free, deployments: [{ upstream: house, model: ${model} }] }
`,
    )
  const good = await outcome(check, fileWith('good', 'm'), '--online')
  assert.deepEqual(
    [good.code, /^house +ok +answers, and lists 3 models$/m.test(good.stdout)],
    [0, true],
    good.stdout,
  )
  assert.match(
    (await outcome(check, fileWith('good', 'n'), '--online')).stdout,
    /^house +warn +.*does not list n$/m,
  )
  assert.match(
    (await outcome(check, fileWith('good', 'ended'), '--online')).stdout,
    /^house +warn +answers, and ended ended on 2023-11-14$/m,
  )
  assert.match(
    (await outcome(check, fileWith('good', 'odd'), '--online')).stdout,
    /^house +warn +answers, and the shutdown_date of odd is neither Unix seconds nor an ISO date$/m,
  )
  const bad = await outcome(check, fileWith('bad', 'm'), '--online')
  assert.deepEqual([bad.code, /^house +fail /m.test(bad.stdout)], [1, true], bad.stdout)
})

test('a model that ends soon, has ended or is retired is a warning with day and successor, and no problem', async (context) => {
  const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const file = place(
    context,
    `
upstreams: { openai: { provider: openai, apiKey: sk-test } }
models:
  soon: { facts: gpt-image-2, deployments: [{ upstream: openai, endsOn: ${dayIn(30)}, successor: gpt-image-2.6-flare }] }
  past: { facts: gpt-image-2, deployments: [{ upstream: openai, endsOn: ${dayIn(-1)} }] }
  far: { facts: gpt-image-2, deployments: [{ upstream: openai, endsOn: ${dayIn(91)} }] }
  gpt-image-1: { deployments: [{ upstream: openai }] }
  gpt-image-2.5-sunburst: { deployments: [{ upstream: openai }] }
projects: { p: { keys: [{ name: k, secret: ${'k1234567'.repeat(3)} }] } }
`,
  )
  const { code, stderr, stdout } = await outcome(check, file)
  assert.equal(code, 0)
  assert.deepEqual(
    stderr
      .trim()
      .split('\n')
      .map((line) => line.slice(line.indexOf('models.'))),
    [
      `models.soon.deployments[0]: gpt-image-2 on openai ends on ${dayIn(30)}, in 30 days. Its successor is gpt-image-2.6-flare, which this file does not declare (warning)`,
      `models.past.deployments[0]: gpt-image-2 on openai ended on ${dayIn(-1)}. Torana goes on calling it until you remove it. Its provider names no successor (warning)`,
      'models.gpt-image-1: openai retired gpt-image-1 on 2026-10-23. Its successor is gpt-image-2.5-sunburst. It is left out, and callers get 404 model_retired. If the upstream still has it, write its kind and what it can do (warning)',
    ],
  )
  assert.match(stdout, /4 models, 4 deployments, 1 key/)
  const read = JSON.parse((await outcome(check, file, '--json')).stdout) as {
    ok: boolean
    warnings: string[]
  }
  assert.deepEqual([read.ok, read.warnings.length], [true, 3])
})
