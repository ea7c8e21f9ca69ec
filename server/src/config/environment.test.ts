import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyFrom } from '#core/keys/key.ts'
import { problemsOf } from '#test/support/config.ts'
import { readEnvironment } from './environment.ts'
import type { Environment } from './file/variable.ts'

/** A folder as a table from path to content. */
function read(env: Environment, files: Readonly<Record<string, string>> = {}) {
  return readEnvironment(env, '/srv', (path) => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return text
  })
}

function problemsIn(env: Environment, files?: Readonly<Record<string, string>>): readonly string[] {
  return problemsOf(() => read(env, files))
}

test('an empty environment is enough, and listens on loopback only', () => {
  const { limits, ...settings } = read({})
  assert.equal(limits.maxInputs, 2048)
  assert.deepEqual(settings, {
    role: 'all',
    workers: undefined,
    tls: undefined,
    host: '127.0.0.1',
    port: 8080,
    controlHost: '127.0.0.1',
    controlPort: 8081,
    dataDir: '/srv/.torana',
    configFile: undefined,
    logLevel: 'info',
    logFormat: 'auto',
    serverTiming: true,
    tracing: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    database: { kind: 'inside', folder: '/srv/.torana/postgres' },
    assets: { kind: 'file', folder: '/srv/.torana/assets' },
    redisUrl: undefined,
    cacheUrl: undefined,
    secret: undefined,
    previousSecret: undefined,
    adminToken: undefined,
    adminTokenOff: false,
    name: undefined,
    consoleUrl: undefined,
    smtp: undefined,
    cell: undefined,
    insecureConsole: false,
    bootstrapKey: undefined,
    openaiApiKey: undefined,
    proxy: undefined,
  })
})

test('empty variables count as unset, and port 0 is a port', () => {
  const settings = read({
    PORT: '0',
    CONTROL_PORT: '0',
    LOG_LEVEL: '',
    OPENAI_API_KEY: '',
    DATABASE_URL: '',
    TORANA_CONFIG: '',
  })
  assert.equal(settings.port, 0)
  assert.equal(settings.logLevel, 'info')
  assert.equal(settings.openaiApiKey, undefined)
  assert.equal(settings.database.kind, 'inside')
})

test('torana.yaml is found in the working directory; a file that was named must be there', () => {
  assert.equal(read({}, { '/srv/torana.yaml': '' }).configFile, '/srv/torana.yaml')
  assert.equal(read({ TORANA_CONFIG: 'etc/t.yaml' }, { '/srv/etc/t.yaml': '' }).configFile, '/srv/etc/t.yaml')
  assert.deepEqual(problemsIn({ TORANA_CONFIG: '/etc/t.yaml' }), [
    '/etc/t.yaml: this configuration file does not exist',
  ])
})

test('every secret can come from a file, without the newline at its end, but not from two places', () => {
  const secret = 'x1234567'.repeat(3)
  for (const [name, field] of [
    ['TORANA_SECRET', 'secret'],
    ['TORANA_BOOTSTRAP_KEY', 'bootstrapKey'],
    ['OPENAI_API_KEY', 'openaiApiKey'],
  ] as const) {
    const files = { '/run/secret': `${secret}\n` }
    assert.equal(read({ [`${name}_FILE`]: '/run/secret' }, files)[field], secret)
    assert.match(problemsIn({ [name]: secret, [`${name}_FILE`]: '/run/secret' }, files)[0] ?? '', /both set/)
    assert.match(
      problemsIn({ [`${name}_FILE`]: '/gone' })[0] ?? '',
      new RegExp(`${name}_FILE names /gone, which cannot be read`),
    )
  }
})

test('a bucket has an access key of its own, or the role of the machine; half a key is neither', () => {
  const bucket = { ASSETS_URL: 's3://pictures?region=eu-central-1' }
  const key = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'hush' }
  const credentialsOf = (env: Record<string, string>): unknown => {
    const { assets } = read(env)
    return assets.kind === 's3' ? assets.credentials : assets.kind
  }
  assert.deepEqual(credentialsOf({ ...bucket, ...key }), { accessKeyId: 'AKIA', secretAccessKey: 'hush' })
  assert.equal(credentialsOf(bucket), undefined)
  for (const [name, value] of Object.entries(key)) {
    const [problem = ''] = problemsIn({ ...bucket, [name]: value })
    assert.match(problem, /^ASSETS_URL: .*one of them is not set$/)
  }
})

test('all problems are reported at once, and none repeats a secret', () => {
  const secrets = {
    DATABASE_URL: 'mysql://me:hunter2@db',
    TORANA_SECRET: 'hunter2',
    TORANA_BOOTSTRAP_KEY: 'hunter2',
    HTTPS_PROXY: 'hunter2:80',
  }
  const problems = problemsIn({
    ...secrets,
    PORT: '65536',
    CONTROL_PORT: '80x',
    LOG_LEVEL: 'inof',
    PUBLIC_URL: 'torana.example.com',
    REDIS_URL: 'hunter2://x',
    CACHE_URL: 'hunter2:6379',
    CONSOLE_URL: 'console.example.com',
    ASSETS_URL: 's3://x',
  })
  const about = new Set(problems.map((problem) => problem.split(':')[0]))
  assert.deepEqual(
    about,
    new Set([
      'ASSETS_URL',
      'CACHE_URL',
      'CONSOLE_URL',
      'CONTROL_PORT',
      'DATABASE_URL',
      'HTTPS_PROXY',
      'LOG_LEVEL',
      'PORT',
      'PUBLIC_URL',
      'REDIS_URL',
      'TORANA_BOOTSTRAP_KEY',
      'TORANA_SECRET',
    ]),
  )
  assert.ok(
    problems.includes(
      'LOG_LEVEL: expected trace, debug, info, warn, error, fatal or silent, got "inof". Did you mean info?',
    ),
  )
  assert.ok(problems.every((problem) => !problem.includes('hunter2')))
})

test('a secret of few different characters is refused, however long it is', () => {
  for (const name of [
    'TORANA_SECRET',
    'TORANA_SECRET_PREVIOUS',
    'TORANA_ADMIN_TOKEN',
    'TORANA_BOOTSTRAP_KEY',
  ])
    for (const value of ['a'.repeat(24), '1234567'.repeat(10)])
      assert.match(problemsIn({ [name]: value })[0] ?? '', new RegExp(`^${name}: .*8 different characters`))
  read({ TORANA_SECRET: '0123456789abcdef01234567' })
})

test('DATABASE_URL is PostgreSQL, or unset for the built-in database, and a shared database needs a shared secret', () => {
  const TORANA_SECRET = 'a-secret-of-all-nodes-000001'
  assert.deepEqual(read({ DATABASE_URL: 'postgres://db/torana', TORANA_SECRET }).database, {
    kind: 'postgres',
    url: 'postgres://db/torana',
  })
  assert.match(problemsIn({ DATABASE_URL: 'postgres://db' })[0] ?? '', /^TORANA_SECRET: required with/)
  for (const url of ['memory:', 'mysql://u:hunter2@db']) {
    const [problem = ''] = problemsIn({ DATABASE_URL: url, TORANA_SECRET })
    assert.match(
      problem,
      /^DATABASE_URL: expected a URL such as postgres:.*built-in database leave DATABASE_URL unset/,
    )
    assert.doesNotMatch(problem, /hunter2/)
  }
})

for (const [name, field] of [
  ['REDIS_URL', 'redisUrl'],
  ['CACHE_URL', 'cacheUrl'],
] as const) {
  test(`${name} is a Redis, may stand in a file, and its password is not repeated`, () => {
    assert.equal(read({ [name]: 'redis://cache' })[field], 'redis://cache')
    assert.equal(read({ [name]: 'rediss://cache:6379/1' })[field], 'rediss://cache:6379/1')
    const files = { '/run/url': 'redis://:hunter2@cache\n' }
    assert.equal(read({ [`${name}_FILE`]: '/run/url' }, files)[field], 'redis://:hunter2@cache')
    const [problem = ''] = problemsIn({ [name]: 'http://u:hunter2@cache' })
    assert.ok(problem.startsWith(`${name}: expected a URL such as redis:`), problem)
    assert.doesNotMatch(problem, /hunter2/)
  })
}

test('a mistyped bootstrap key is caught by its checksum', () => {
  const key = keyFrom(new Uint8Array(32).fill(7))
  assert.equal(read({ TORANA_BOOTSTRAP_KEY: key }).bootstrapKey, key)
  assert.match(problemsIn({ TORANA_BOOTSTRAP_KEY: `${key.slice(0, -1)}!` })[0] ?? '', /checksum is wrong/)
})

test('a cell has a short name that a load balancer can cut out of a key', () => {
  assert.equal(read({ TORANA_CELL: 'eu1' }).cell, 'eu1')
  assert.equal(read({}).cell, undefined)
  for (const name of ['EU1', 'eu-1', 'europe-west'])
    assert.match(problemsIn({ TORANA_CELL: name })[0] ?? '', /^TORANA_CELL: expected one to eight/)
})

test('the two listeners can not share an address', () => {
  assert.match(problemsIn({ PORT: '9000', CONTROL_PORT: '9000' })[0] ?? '', /must not be PORT/)
  assert.deepEqual(problemsIn({ PORT: '9000', CONTROL_PORT: '9000', CONTROL_HOST: '10.0.0.1' }), [])
})

test('proxies are read in either case', () => {
  assert.deepEqual(read({ https_proxy: 'http://p:3128', NO_PROXY: 'localhost' }).proxy, {
    http: undefined,
    https: 'http://p:3128',
    no: 'localhost',
  })
})

test('trusted proxies are addresses and networks', () => {
  const { trustedProxies } = read({ TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::1,loopback,' })
  assert.deepEqual(
    trustedProxies.map(({ address, prefixBits, family }) => `${family} ${address}/${prefixBits}`),
    ['ipv4 10.0.0.0/8', 'ipv6 2001:db8::1/128', 'ipv4 127.0.0.0/8', 'ipv6 ::1/128'],
  )
  for (const value of ['proxy.example', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '0.0.0.0/0', '::/0', '*'])
    assert.match(problemsIn({ TRUSTED_PROXIES: value }).join(), /^TRUSTED_PROXIES: expected addresses/, value)
})

test('the admin token is turned off by a word, which is no token itself', () => {
  const settings = read({ TORANA_ADMIN_TOKEN: 'off' })
  assert.deepEqual([settings.adminToken, settings.adminTokenOff], [undefined, true])
  assert.equal(read({ TORANA_ADMIN_TOKEN: 'a-token-of-these-tests-0001' }).adminTokenOff, false)
  assert.match(problemsIn({ TORANA_ADMIN_TOKEN: 'of' }).join('\n'), /TORANA_ADMIN_TOKEN: needs/)
})

test('the console accepts other machines over plain http only with an explicit setting', () => {
  assert.equal(read({ TORANA_INSECURE_CONSOLE: 'true' }).insecureConsole, true)
  assert.match(problemsIn({ TORANA_INSECURE_CONSOLE: 'yes' }).join('\n'), /expected true or false/)
  assert.equal(
    read({ CONSOLE_URL: 'https://torana.example.com/console/' }).consoleUrl,
    'https://torana.example.com/console',
  )
})

test('traces are off without a receiver, and problems of the OpenTelemetry variables are reported', () => {
  const tracing = (env: Environment) => read(env).tracing
  assert.equal(tracing({ OTEL_TRACES_SAMPLER: 'always_on' }), undefined)
  assert.equal(
    tracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }),
    undefined,
  )
  assert.deepEqual(
    tracing({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%2Cb, tenant=7',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_PROPAGATORS: 'none',
    }),
    {
      url: 'http://collector:4318/v1/traces',
      headers: { 'api-key': 'a,b', tenant: '7' },
      timeoutMs: 10_000,
      resource: { 'service.name': 'torana' },
      ratio: 0.25,
      followsParent: false,
      isHandedOn: false,
      isBaggageHandedOn: false,
    },
  )
  const wrong = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'secret-without-a-name',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
    OTEL_TRACES_SAMPLER: 'parentbased_alwayson',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_PROPAGATORS: 'b3',
  }
  const problems = problemsIn(wrong)
  assert.equal(problems.length, 6)
  assert.match(problems.join('\n'), /OTEL_TRACES_SAMPLER: .*parentbased_always_on/)
  assert.doesNotMatch(problems.join('\n'), /secret-without-a-name/)
})
