/**
 * A real node in this process before a real fake provider, configured by a torana.yaml of its own. Without a DATABASE_URL its
 * stores are in memory, unless it asks for the built-in database. Both end with the test file that started them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from './at-end.ts'
import { openDatabaseStores } from '#node/database.ts'
import { bindListeners } from '#node/listeners.ts'
import { readEnvironment } from '#config/environment.ts'
import { readText } from '#config/file/variable.ts'
import { startNode } from '#main'
import { openMemoryStores } from './stores/open.ts'
import { startFakeProvider, type FakeProvider } from '../../../lab/fake-provider/server.ts'
import { fromBase64 } from '../../../lab/fake-provider/vectors.ts'
import { widthOf } from '../../../lab/fake-provider/wire.ts'

/** A model of the fake provider; its id ends with its width, as in `plain-w16`. */
export interface ModelSpec {
  /** Scenarios of the fake provider, one deployment each, the first being tried first. */
  readonly on: string | readonly string[]
  /** Another wire of the fake provider than OpenAI's. */
  readonly upstream?: Readonly<Record<string, unknown>> & { readonly base?: string }
  /** As in torana.yaml. */
  readonly embedding?: Readonly<Record<string, unknown>>
  readonly capabilities?: Readonly<Record<string, unknown>>
  readonly aliases?: readonly string[]
  readonly unsupported?: 'refuse' | 'drop'
  readonly price?: unknown
  /** Of each deployment, in the order of `on`, where they differ. */
  readonly prices?: readonly unknown[]
  /** When each deployment ends, in the order of `on`, as in torana.yaml. */
  readonly ends?: readonly DeploymentEnd[]
  /** Of each deployment, as in torana.yaml. */
  readonly answersAs?: readonly string[]
  readonly deploymentLimits?: Readonly<Record<string, number>>
  readonly cache?: { readonly ttl: string }
  readonly microBatch?: Readonly<Record<string, unknown>>
  readonly attemptTimeoutMs?: number
  /** The name of the space that it declares. */
  readonly space?: string
  /** Off unless a test is about it. */
  readonly spaceGuard?: boolean
}

interface DeploymentEnd {
  readonly endsOn?: string
  readonly successor?: string
}

/** An image model of the fake provider. */
export interface ImageModelSpec {
  readonly on: string | readonly string[]
  readonly upstream?: Readonly<Record<string, unknown>> & { readonly base?: string }
  /** The upstream's name of the model; default: the public id. */
  readonly upstreamModel?: string
  /** As in torana.yaml. */
  readonly image?: Readonly<Record<string, unknown>>
  readonly capabilities?: Readonly<Record<string, unknown>>
  /** Further capabilities of the deployment of one scenario. */
  readonly capabilitiesOn?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly aliases?: readonly string[]
  readonly unsupported?: 'refuse' | 'drop'
  readonly price?: unknown
  /** Of each deployment, in the order of `on`, where they differ. */
  readonly prices?: readonly unknown[]
  readonly ends?: readonly DeploymentEnd[]
}

export interface GatewayOptions {
  readonly models?: Readonly<Record<string, ModelSpec>>
  readonly images?: Readonly<Record<string, ImageModelSpec>>
  readonly limits?: Readonly<Record<string, number | boolean>>
  readonly projects?: unknown
  readonly retired?: unknown
  readonly cors?: unknown
  readonly playground?: unknown
  readonly alerts?: unknown
  /** Models that the built-in catalogue knows, all of them on one upstream of OpenAI's provider. */
  readonly known?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly env?: Readonly<Record<string, string>>
  /** false: as from an empty folder, with the demo models alone. */
  readonly file?: boolean
  /** true: the database built into Torana, if there is no DATABASE_URL. */
  readonly isOnDatabase?: boolean
}

export interface AskOptions {
  /** Undefined sends none. */
  readonly key?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly path?: string
}

export interface Asked {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: AnswerBody
}

/** An embeddings answer or an error; a test reads the part it is about. */
export interface AnswerBody {
  readonly object: string
  readonly data: readonly {
    readonly object: string
    readonly index: number
    readonly embedding: number[] | string
  }[]
  readonly model: string
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number }
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
    readonly request_id: string
    readonly doc_url: string
    readonly upstream?: {
      readonly deployment: string
      readonly status?: number
      readonly request_id?: string
    }
  }
  readonly [extra: string]: unknown
}

export interface Gateway {
  readonly url: string
  readonly controlUrl: string
  /** The page on which a person becomes the first admin. */
  readonly welcomeUrl: string | undefined
  readonly provider: FakeProvider
  /** A key for every model. */
  readonly key: string
  readonly configFile: string
  /** `POST /v1/embeddings`. A string is sent as it is. */
  ask(body: unknown, options?: AskOptions): Promise<Asked>
  get(path: string, options?: AskOptions): Promise<Asked>
  stop(): Promise<void>
}

export const GATEWAY_KEY = 'gateway-test-key-00000001'
/** Our credential for the fake provider: no caller, log or metric may ever see it. */
export const UPSTREAM_KEY = 'sk-upstreamcanary0123456789'

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const provider = await startFakeProvider()
  const folder = mkdtempSync(join(tmpdir(), 'torana-test-'))
  const configFile = join(folder, 'torana.yaml')
  if (options.file !== false) writeFileSync(configFile, configText(options, provider.url))
  const env = gatewayEnvironment(folder, {
    LOG_LEVEL: 'silent',
    ...(options.file === false && { TORANA_CONFIG: '' }),
    ...options.env,
  })
  const settings = readEnvironment(env, folder, readText)
  const isOnDatabase = env['DATABASE_URL'] !== undefined || options.isOnDatabase === true
  const openStores = isOnDatabase ? openDatabaseStores : openMemoryStores
  const node = await startNode(settings, env, await bindListeners(settings), openStores)
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= node.stop())
  atEnd(async () => {
    await stop()
    await provider.close()
    rmSync(folder, { recursive: true })
  })
  const asking = (path: string, { key, headers }: AskOptions, rest: RequestInit): Promise<Asked> =>
    send(`${node.url}${path}`, {
      ...rest,
      headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    })
  return {
    url: node.url,
    controlUrl: node.controlUrl,
    welcomeUrl: node.welcomeUrl,
    provider,
    key: GATEWAY_KEY,
    configFile,
    ask: (body, { path = '/v1/embeddings', ...rest } = {}) =>
      asking(
        path,
        { key: GATEWAY_KEY, ...rest, headers: { 'content-type': 'application/json', ...rest.headers } },
        { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
      ),
    get: (path, rest = {}) => asking(path, { key: GATEWAY_KEY, ...rest }, { method: 'GET' }),
    stop,
  }
}

export function gatewayEnvironment(
  folder: string,
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    PORT: '0',
    CONTROL_PORT: '0',
    TORANA_CONFIG: join(folder, 'torana.yaml'),
    TORANA_DATA_DIR: join(folder, 'data'),
    TORANA_BOOTSTRAP_KEY: GATEWAY_KEY,
    ...extra,
  }
}

/** JSON, which is YAML too. */
export function configText(
  {
    models = {},
    images = {},
    known = {},
    limits,
    projects,
    retired,
    cors,
    playground,
    alerts,
  }: GatewayOptions,
  providerUrl: string,
): string {
  const upstreams: Record<string, unknown> = {}
  /** One deployment for each scenario, each on a separate upstream. */
  const deployed = (
    {
      on,
      upstream = {},
      capabilities,
      capabilitiesOn = {},
      ends = [],
    }: Pick<ImageModelSpec, 'on' | 'upstream' | 'capabilities' | 'capabilitiesOn' | 'ends'>,
    upstreamModel: string,
  ): object[] => {
    const { base = 'v1', ...fields } = upstream
    const scenarios = typeof on === 'string' ? [on] : on
    return scenarios.map((scenario, priority) => {
      const name = [
        scenario.replaceAll('+', '.'),
        ...(base === 'v1' ? [] : [base.replaceAll('/', '.')]),
      ].join('.')
      upstreams[name] = {
        dialect: 'openai',
        baseUrl: `${providerUrl}/${scenario}/${base}`,
        apiKey: UPSTREAM_KEY,
        ...fields,
      }
      const own = capabilitiesOn[scenario]
      const whole = own === undefined ? capabilities : { ...capabilities, ...own }
      return { upstream: name, model: upstreamModel, priority, capabilities: whole, ...ends[priority] }
    })
  }
  const entries = Object.entries(models).map(([id, spec]) => {
    const {
      on: _on,
      upstream: _upstream,
      capabilities: _capabilities,
      embedding,
      deploymentLimits,
      answersAs,
      ends: _ends,
      prices,
      ...rest
    } = spec
    const limits = deploymentLimits
    const facts = { dimensions: widthOf(id), ...embedding }
    // Probes would be among the calls that tests count.
    return [
      id,
      {
        kind: 'embedding',
        embedding: facts,
        spaceGuard: false,
        deployments: deployed(spec, id).map((one, index) => ({
          ...one,
          limits,
          answersAs,
          price: prices?.[index],
        })),
        ...rest,
      },
    ]
  })
  const imageEntries = Object.entries(images).map(([id, spec]) => {
    const { on: _on, upstream: _upstream, capabilities: _, capabilitiesOn: _of, ends: _ends, ...facts } = spec
    const { upstreamModel = id, prices, ...rest } = facts
    const deployments = deployed(spec, upstreamModel).map((one, index) => ({
      ...one,
      price: prices?.[index],
    }))
    return [id, { kind: 'image', deployments, ...rest }]
  })
  const knownEntries = Object.entries(known).map(([id, entry]) => {
    upstreams['known'] = { provider: 'openai', baseUrl: `${providerUrl}/plain/v1`, apiKey: UPSTREAM_KEY }
    return [id, { deployments: [{ upstream: 'known' }], ...entry }]
  })
  const config = {
    upstreams,
    models: Object.fromEntries([...entries, ...imageEntries, ...knownEntries]),
    // Tests do not depend on a quiet machine.
    limits: { overloadBrake: false, ...limits },
    projects,
    retired,
    cors,
    playground,
    alerts,
  }
  return JSON.stringify(config, undefined, 2).replaceAll('$', () => '$$')
}

export async function send(url: string, init: RequestInit): Promise<Asked> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') === true
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: (isJson ? JSON.parse(text) : {}) as AnswerBody,
  }
}

/** The vectors of an answer in the order of the inputs, whichever way they are encoded. */
export function vectorsIn({ body }: Asked): Float32Array[] {
  return body.data
    .toSorted((left, right) => left.index - right.index)
    .map(({ embedding }) =>
      typeof embedding === 'string' ? fromBase64(embedding) : Float32Array.from(embedding),
    )
}
