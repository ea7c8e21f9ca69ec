/** The environment → Settings. `variables.ts` describes each variable. */
import { join, resolve } from 'node:path'
import {
  isCellName,
  keyForm,
  MIN_KEY_LENGTH,
  isMonotonous,
  MIN_DIFFERENT_CHARACTERS,
} from '#core/keys/key.ts'
import {
  defaultLimits,
  type AssetSettings,
  type DatabaseSettings,
  type LogFormat,
  type LogLevel,
  type ProxySettings,
  type Settings,
  type SmtpSettings,
} from '#core/settings.ts'
import { parseAssetsUrl } from './assets-url.ts'
import { anyOf, ConfigError, didYouMean } from './file/problem.ts'
import { reasonOf, type Environment, type ReadFile } from './file/variable.ts'
import { Variables, type NameWithDefault } from './given.ts'
import { roleOf, tlsOf, workersOf } from './processes.ts'
import { isSameRedis } from './same-redis.ts'
import { parseTrustedProxies } from './trusted-proxies.ts'
import { tracingOf } from './tracing.ts'
import { ADMIN_TOKEN_OFF, environmentVariables } from './variables.ts'

const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const LOG_FORMATS: readonly LogFormat[] = ['auto', 'text', 'json']

type BooleanName = 'TORANA_INSECURE_CONSOLE' | 'TORANA_SERVER_TIMING'

/** Throws a `ConfigError` with every problem there is. */
export function readEnvironment(env: Environment, cwd: string, readFile: ReadFile): Settings {
  const variables = new Variables(env, readFile)
  const dataDir = resolve(cwd, variables.text('TORANA_DATA_DIR'))
  const database = databaseOf(variables, dataDir)
  const settings: Settings = {
    role: roleOf(variables, database),
    workers: workersOf(variables, database),
    tls: tlsOf(variables, cwd, readFile),
    host: variables.text('HOST'),
    port: portOf(variables, 'PORT'),
    controlHost: variables.text('CONTROL_HOST'),
    controlPort: portOf(variables, 'CONTROL_PORT'),
    dataDir,
    configFile: configFileOf(variables, cwd, readFile),
    logLevel: oneOf(variables, 'LOG_LEVEL', LOG_LEVELS),
    logFormat: oneOf(variables, 'LOG_FORMAT', LOG_FORMATS),
    serverTiming: booleanOf(variables, 'TORANA_SERVER_TIMING'),
    tracing: tracingOf(variables),
    publicUrl: webUrlOf(variables, 'PUBLIC_URL'),
    trustedProxies: trustedProxiesOf(variables),
    database,
    assets: assetsOf(variables, cwd, dataDir),
    redisUrl: storeUrlOf(variables, 'REDIS_URL', /^rediss?:$/, 'redis://redis.example.com:6379'),
    cacheUrl: storeUrlOf(variables, 'CACHE_URL', /^rediss?:$/, 'redis://cache.example.com:6379'),
    secret: secretOf(variables, 'TORANA_SECRET'),
    previousSecret: secretOf(variables, 'TORANA_SECRET_PREVIOUS'),
    ...adminTokenOf(variables),
    name: variables.given('TORANA_NAME'),
    cell: cellNameOf(variables),
    consoleUrl: webUrlOf(variables, 'CONSOLE_URL'),
    smtp: smtpOf(variables),
    insecureConsole: booleanOf(variables, 'TORANA_INSECURE_CONSOLE'),
    bootstrapKey: bootstrapKeyOf(variables),
    openaiApiKey: variables.given('OPENAI_API_KEY'),
    proxy: proxyOf(variables),
    limits: defaultLimits,
  }
  refuseSharedAddress(settings, variables)
  refuseSharedRedis(settings, variables)
  if (variables.problems.size > 0) throw new ConfigError([...variables.problems])
  return settings
}

function refuseSharedAddress(settings: Settings, variables: Variables): void {
  const { host, port, controlHost, controlPort } = settings
  if (port === 0 || port !== controlPort || host !== controlHost) return
  variables.refuse(
    'CONTROL_PORT',
    `must not be PORT (${port}): the public and the control listener are kept apart`,
  )
}

function refuseSharedRedis({ redisUrl, cacheUrl }: Settings, variables: Variables): void {
  if (redisUrl === undefined || cacheUrl === undefined || !isSameRedis(redisUrl, cacheUrl)) return
  variables.refuse('CACHE_URL', 'must not be the server of REDIS_URL: a cache would evict rate limits too')
}

function portOf(variables: Variables, name: 'PORT' | 'CONTROL_PORT'): number {
  const value = variables.text(name)
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value)
  variables.refuse(name, `expected a whole number from 0 to 65535, got "${value}"`)
  return 0
}

/** The default if the value is none of them: the problem is reported, and nothing starts. */
function oneOf<Value extends string>(
  variables: Variables,
  name: NameWithDefault,
  values: readonly Value[],
): Value {
  const value = variables.text(name)
  const known = values.find((one) => one === value)
  if (known) return known
  variables.refuse(name, `expected ${anyOf(values)}, got "${value}".${didYouMean(value, values)}`)
  return environmentVariables[name].default as Value
}

function smtpOf(variables: Variables): SmtpSettings | undefined {
  const [url, from] = [variables.given('SMTP_URL'), variables.given('SMTP_FROM')]
  if (url === undefined && from === undefined) return undefined
  if (url === undefined || !/^smtps?:$/.test(URL.parse(url)?.protocol ?? ''))
    variables.refuse('SMTP_URL', 'expected a URL such as smtps://user:password@mail.example.com')
  else if (from === undefined || !from.includes('@') || /[\r\n]/.test(from))
    variables.refuse('SMTP_FROM', 'expected a mail address such as torana@example.com, next to SMTP_URL')
  else return { url, from }
  return undefined
}

function webUrlOf(variables: Variables, name: 'PUBLIC_URL' | 'CONSOLE_URL'): string | undefined {
  const value = variables.given(name)
  if (value === undefined) return undefined
  const url = URL.parse(value)
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '')
    return value.replace(/\/+$/, '')
  variables.refuse(name, `expected a URL such as https://torana.example.com, got "${value}"`)
  return undefined
}

function booleanOf(variables: Variables, name: BooleanName): boolean {
  const value = variables.text(name)
  if (value !== 'true' && value !== 'false') variables.refuse(name, `expected true or false, got "${value}"`)
  return value === 'true'
}

function trustedProxiesOf(variables: Variables): Settings['trustedProxies'] {
  try {
    return parseTrustedProxies(variables.given('TRUSTED_PROXIES') ?? '')
  } catch (error) {
    variables.refuse('TRUSTED_PROXIES', (error as Error).message)
    return []
  }
}

/** Messages never repeat such a URL: it may hold a password. */
function storeUrlOf(
  variables: Variables,
  name: 'DATABASE_URL' | 'REDIS_URL' | 'CACHE_URL',
  protocols: RegExp,
  example: string,
): string | undefined {
  const value = variables.given(name)
  const url = value === undefined ? null : URL.parse(value)
  if (value !== undefined && !protocols.test(url?.protocol ?? ''))
    variables.refuse(name, `expected a URL such as ${example}`)
  else if (url !== null) refuseUnreadable(variables, name, url)
  return value
}

/** Certificates that the URL names. */
function refuseUnreadable(variables: Variables, name: string, { searchParams }: URL): void {
  for (const option of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = searchParams.get(option)
    const reason = file === null ? undefined : variables.unreadable(file)
    if (reason !== undefined)
      variables.refuse(name, `${option} names ${file}, which cannot be read (${reason})`)
  }
}

function databaseOf(variables: Variables, dataDir: string): DatabaseSettings {
  const example =
    'postgres://torana:password@db.example.com/torana. For the built-in database leave DATABASE_URL unset'
  const url = storeUrlOf(variables, 'DATABASE_URL', /^postgres(ql)?:$/, example)
  if (url === undefined) return { kind: 'inside', folder: join(dataDir, 'postgres') }
  if (variables.given('TORANA_SECRET') === undefined)
    variables.refuse(
      'TORANA_SECRET',
      'required with a DATABASE_URL, and the same on all nodes. Create it once with openssl rand -hex 32',
    )
  return { kind: 'postgres', url }
}

function assetsOf(variables: Variables, cwd: string, dataDir: string): AssetSettings {
  const inside: AssetSettings = { kind: 'file', folder: join(dataDir, 'assets') }
  const value = variables.given('ASSETS_URL')
  if (value === undefined) return inside
  try {
    const location = parseAssetsUrl(value)
    if (location.kind === 'file') return { kind: 'file', folder: resolve(cwd, location.folder) }
    const accessKeyId = variables.given('AWS_ACCESS_KEY_ID')
    const secretAccessKey = variables.given('AWS_SECRET_ACCESS_KEY')
    if (accessKeyId !== undefined && secretAccessKey !== undefined)
      return { ...location, credentials: { accessKeyId, secretAccessKey } }
    if (accessKeyId === undefined && secretAccessKey === undefined)
      return { ...location, credentials: undefined }
    variables.refuse(
      'ASSETS_URL',
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY come together: one of them is not set',
    )
  } catch (error) {
    variables.refuse('ASSETS_URL', (error as Error).message)
  }
  return inside
}

const MONOTONOUS = `needs ${MIN_DIFFERENT_CHARACTERS} different characters or more: repeated ones can be guessed`

function secretOf(
  variables: Variables,
  name: 'TORANA_SECRET' | 'TORANA_SECRET_PREVIOUS' | 'TORANA_ADMIN_TOKEN',
): string | undefined {
  const value = variables.given(name)
  if (value !== undefined && value.length < MIN_KEY_LENGTH)
    variables.refuse(
      name,
      `needs ${MIN_KEY_LENGTH} characters or more, this has ${value.length}; try openssl rand -hex 32`,
    )
  else if (value !== undefined && isMonotonous(value))
    variables.refuse(name, `${MONOTONOUS}; try openssl rand -hex 32`)
  return value
}

function adminTokenOf(variables: Variables): Pick<Settings, 'adminToken' | 'adminTokenOff'> {
  if (variables.given('TORANA_ADMIN_TOKEN') === ADMIN_TOKEN_OFF)
    return { adminToken: undefined, adminTokenOff: true }
  return { adminToken: secretOf(variables, 'TORANA_ADMIN_TOKEN'), adminTokenOff: false }
}

function cellNameOf(variables: Variables): string | undefined {
  const value = variables.given('TORANA_CELL')
  if (value !== undefined && !isCellName(value))
    variables.refuse('TORANA_CELL', 'expected one to eight digits and small letters, such as eu1')
  return value
}

function bootstrapKeyOf(variables: Variables): string | undefined {
  const name = 'TORANA_BOOTSTRAP_KEY'
  const value = variables.given(name)
  if (value === undefined) return undefined
  const form = keyForm(value)
  if (form === 'too-short')
    variables.refuse(
      name,
      `needs ${MIN_KEY_LENGTH} characters or more, this has ${value.length}: short ones can be guessed`,
    )
  if (form === 'foreign' && isMonotonous(value)) variables.refuse(name, MONOTONOUS)
  if (form === 'bad-checksum')
    variables.refuse(name, 'starts like a Torana key, but its checksum is wrong. Was it cut off or mistyped?')
  return value
}

function proxyOf(variables: Variables): ProxySettings | undefined {
  const [http, https] = (['HTTP_PROXY', 'HTTPS_PROXY'] as const).map((name) => {
    const value = variables.givenInEitherCase(name)
    // Not repeated: it may hold credentials.
    if (value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
      variables.refuse(name, 'expected a URL such as http://proxy.example.com:3128')
    return value
  })
  if (http === undefined && https === undefined) return undefined
  return { http, https, no: variables.givenInEitherCase('NO_PROXY') }
}

function configFileOf(variables: Variables, cwd: string, readFile: ReadFile): string | undefined {
  const named = variables.given('TORANA_CONFIG')
  const file = named === undefined ? join(cwd, 'torana.yaml') : resolve(cwd, named)
  try {
    readFile(file)
    return file
  } catch (error) {
    const reason = reasonOf(error)
    if (named === undefined && reason === 'ENOENT') return undefined
    variables.refuse(
      file,
      reason === 'ENOENT' ? 'this configuration file does not exist' : `cannot be read (${reason})`,
    )
    return undefined
  }
}
