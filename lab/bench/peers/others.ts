/** LiteLLM's proxy, Portkey's gateway and Bifrost, each set up as its own documentation advises for production. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { httpReady, spawnOn, stopAll } from '../../processes.ts'
import { freePort } from '../../../server/test/support/servers.ts'
import {
  CALLER_KEY,
  PEERS_FOLDER,
  UPSTREAM_KEY,
  UPSTREAM_MODEL,
  type Contender,
  type RunningContender,
  type Stage,
  type UpstreamPart,
} from './contender.ts'
import { BIFROST_VERSION, LITELLM_VERSION, PORTKEY_VERSION } from './versions.ts'

const LITELLM = join(PEERS_FOLDER, 'litellm/bin/litellm')
const PORTKEY = join(PEERS_FOLDER, 'portkey/node_modules/@portkey-ai/gateway')
export const BIFROST: string = join(PEERS_FOLDER, 'bifrost-http')

/** It takes a quarter of a minute of a core. */
const LITELLM_START_MS = 300_000
const LITELLM_SETTINGS =
  'production mode, logs only errors, master key. No database: no spend, no stored keys'
const BIFROST_SETTINGS = 'virtual key, requests logged to SQLite without content, default pools'

export const OTHERS: readonly Contender[] = [
  {
    id: 'portkey',
    name: 'Portkey gateway',
    cores: 1,
    settings: 'production mode, provider in headers. No keys, ledger or log',
    version: portkeyVersion,
    pinned: PORTKEY_VERSION,
    start: startPortkey,
  },
  {
    id: 'bifrost',
    name: 'Bifrost, one core',
    cores: 1,
    settings: `\`GOMAXPROCS=1\`; ${BIFROST_SETTINGS}`,
    version: bifrostVersion,
    pinned: BIFROST_VERSION,
    start: (stage) => startBifrost(stage, 1),
  },
  {
    id: 'bifrost-two',
    name: 'Bifrost, two cores',
    cores: 2,
    settings: `\`GOMAXPROCS=2\`; ${BIFROST_SETTINGS}`,
    version: bifrostVersion,
    pinned: BIFROST_VERSION,
    start: (stage) => startBifrost(stage, 2),
  },
  {
    id: 'litellm',
    name: 'LiteLLM proxy, one worker',
    cores: 1,
    settings: LITELLM_SETTINGS,
    version: litellmVersion,
    pinned: LITELLM_VERSION,
    start: (stage) => startLitellm(stage, 1),
  },
  {
    id: 'litellm-two',
    name: 'LiteLLM proxy, two workers',
    cores: 2,
    settings: `\`--num_workers 2\`; ${LITELLM_SETTINGS}`,
    version: litellmVersion,
    pinned: LITELLM_VERSION,
    start: (stage) => startLitellm(stage, 2),
  },
]

function portkeyVersion(): string | undefined {
  const manifest = join(PORTKEY, 'package.json')
  if (!existsSync(manifest)) return undefined
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}

function bifrostVersion(): string | undefined {
  return existsSync(BIFROST) ? BIFROST_VERSION : undefined
}

function litellmVersion(): string | undefined {
  if (!existsSync(LITELLM)) return undefined
  const question = 'import importlib.metadata as m; print(m.version("litellm"))'
  const python = join(PEERS_FOLDER, 'litellm/bin/python')
  return execFileSync(python, ['-c', question], { encoding: 'utf8' }).trim()
}

async function startPortkey({ cores, upstreams, folder }: Stage): Promise<RunningContender> {
  const port = await freePort()
  const program = join(PORTKEY, 'build/start-server.js')
  const { pid } = spawnOn(
    cores,
    process.execPath,
    [program, `--port=${port}`, '--headless'],
    { NODE_ENV: 'production' },
    join(folder, 'portkey.log'),
  )
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/`)
  return {
    pid,
    target: (name) => {
      const upstream = upstreams.find((one) => one.name === name) as UpstreamPart
      return {
        url: `${origin}/v1`,
        model: UPSTREAM_MODEL[upstream.kind],
        headers: {
          authorization: `Bearer ${UPSTREAM_KEY}`,
          'x-portkey-provider': 'openai',
          'x-portkey-custom-host': upstream.baseUrl,
        },
      }
    },
    storePids: () => [],
    stop: () => stopAll(pid),
  }
}

async function startLitellm({ cores, upstreams, folder }: Stage, workers: number): Promise<RunningContender> {
  const port = await freePort()
  const file = join(folder, 'litellm.yaml')
  const config = {
    model_list: upstreams.map(({ name, kind, baseUrl }) => ({
      model_name: name,
      litellm_params: {
        model: `openai/${UPSTREAM_MODEL[kind]}`,
        api_base: baseUrl,
        api_key: UPSTREAM_KEY,
      },
      model_info: { mode: kind === 'image' ? 'image_generation' : 'embedding' },
    })),
    litellm_settings: { set_verbose: false, json_logs: true, request_timeout: 600 },
    general_settings: { master_key: CALLER_KEY },
  }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config))
  const args = ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--num_workers']
  const env = {
    LITELLM_MODE: 'PRODUCTION',
    LITELLM_LOG: 'ERROR',
    // It would ask GitHub for prices.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  }
  const { pid } = spawnOn(cores, LITELLM, [...args, String(workers)], env, join(folder, 'litellm.log'))
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/health/liveliness`, LITELLM_START_MS)
  return {
    pid,
    target: (model) => ({
      url: `${origin}/v1`,
      model,
      headers: { authorization: `Bearer ${CALLER_KEY}` },
    }),
    storePids: () => [],
    stop: () => stopAll(pid),
  }
}

async function startBifrost(
  { cores, upstreams, folder }: Stage,
  processors: number,
): Promise<RunningContender> {
  const port = await freePort()
  const app = join(folder, 'bifrost')
  mkdirSync(app)
  writeFileSync(join(app, 'config.json'), JSON.stringify(bifrostConfig(upstreams, app)))
  const args = ['-host', '127.0.0.1', '-port', String(port), '-app-dir', app, '-log-level', 'error']
  const env = { GOMAXPROCS: String(processors) }
  const { pid } = spawnOn(cores, BIFROST, args, env, join(folder, 'bifrost.log'))
  const origin = `http://127.0.0.1:${port}`
  await httpReady(`${origin}/health`)
  return {
    pid,
    target: (name) => {
      const upstream = upstreams.find((one) => one.name === name) as UpstreamPart
      return {
        url: `${origin}/v1`,
        model: `${name}/${UPSTREAM_MODEL[upstream.kind]}`,
        headers: { 'x-bf-vk': CALLER_KEY },
      }
    },
    storePids: () => [],
    stop: () => stopAll(pid),
  }
}

/** Each upstream is a separate provider, because an address belongs to a provider. */
function bifrostConfig(upstreams: readonly UpstreamPart[], folder: string): object {
  const pricing = join(folder, 'pricing.json')
  writeFileSync(pricing, '{}')
  return {
    client: {
      enable_logging: true,
      disable_content_logging: true,
      enforce_auth_on_inference: true,
      drop_excess_requests: false,
    },
    // It would ask its maker's site for them.
    framework: {
      pricing: {
        pricing_url: `file://${pricing}`,
        model_parameters_url: `file://${pricing}`,
        mcp_library_url: `file://${pricing}`,
      },
    },
    providers: Object.fromEntries(
      upstreams.map(({ name, baseUrl }) => [
        name,
        {
          keys: [{ name: `key-${name}`, value: UPSTREAM_KEY, models: ['*'], weight: 1 }],
          // It adds the version itself.
          network_config: { base_url: baseUrl.replace(/\/v1$/, ''), max_retries: 0 },
          custom_provider_config: { base_provider_type: 'openai' },
        },
      ]),
    ),
    governance: {
      virtual_keys: [
        {
          id: 'vk-bench',
          name: 'bench',
          value: CALLER_KEY,
          is_active: true,
          provider_configs: upstreams.map(({ name }) => ({
            provider: name,
            allowed_models: ['*'],
            key_ids: ['*'],
            weight: 1,
          })),
        },
      ],
    },
    config_store: { enabled: true, type: 'sqlite', config: { path: join(folder, 'config.db') } },
    logs_store: { enabled: true, type: 'sqlite', config: { path: join(folder, 'logs.db') } },
  }
}
