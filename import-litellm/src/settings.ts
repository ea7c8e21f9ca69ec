/** `litellm_settings`, `router_settings`, `general_settings` and all other sections. */
import { fieldsOf, isMapping, isTrue, listOf, numberOf, saysNothing, textOf, type Fields } from './read.ts'
import type { Notes, Place } from './notes.ts'

export interface Alias {
  readonly place: Place
  readonly alias: string
  readonly target: string
}

export interface Fallback {
  readonly place: Place
  readonly from: string
  readonly to: readonly string[]
}

export interface Settings {
  readonly dropParams: boolean
  readonly drawsByRate: boolean
  /** Its router refuses what goes beyond `rpm` and `tpm` of a deployment, instead of only sharing calls out by them. */
  readonly enforcesRates: boolean
  /** How long vectors are kept: `3600s`. Undefined: the file does not say, or there is no cache. */
  readonly cacheTtl: string | undefined
  readonly aliases: readonly Alias[]
  readonly fallbacks: readonly Fallback[]
}

const CACHE =
  'Torana has a cache for each model that asks for one, with `cache: { ttl: 30d }`: see docs/caching.md'
const RETRIES = "time-outs and retries are Torana's own: see limits in its configuration"
const HEALTH = 'Torana watches the health of deployments by itself'
const LOGS =
  'Torana writes JSON logs and Prometheus metrics (LOG_LEVEL, /metrics on the control port); it calls no logging services'
const DATABASE =
  "LiteLLM's database is not read, so its keys, teams and budgets stay behind: see docs/moving-from-litellm.md. Torana reads DATABASE_URL too: never start it with LiteLLM's"
const BUDGET = 'Torana has budgets for projects and keys: set one in each project'
const REDIS = 'Torana keeps no state of its router in Redis'
const GUARD = 'Torana has no guardrails'

/** Why a setting stays behind; `section.field`, or `section` for all of it. */
const REASONS: Readonly<Record<string, string>> = {
  'litellm_settings.cache': CACHE,
  'litellm_settings.cache_params': CACHE,
  'litellm_settings.request_timeout': RETRIES,
  'litellm_settings.num_retries': RETRIES,
  'litellm_settings.allowed_fails': HEALTH,
  'litellm_settings.success_callback': LOGS,
  'litellm_settings.failure_callback': LOGS,
  'litellm_settings.callbacks': LOGS,
  'litellm_settings.service_callback': LOGS,
  'litellm_settings.set_verbose': LOGS,
  'litellm_settings.json_logs': LOGS,
  'litellm_settings.turn_off_message_logging': 'Torana logs no texts and no vectors',
  'litellm_settings.max_budget': BUDGET,
  'litellm_settings.budget_duration': BUDGET,
  'litellm_settings.default_team_settings': 'teams are not carried over: make a project for each',
  'litellm_settings.context_window_fallbacks':
    'an input that is too long is refused, not sent to another model: its vectors could not be compared',
  'litellm_settings.content_policy_fallbacks': "an upstream's refusal of content is final",
  'litellm_settings.default_fallbacks': 'another model has another vector space: see fallbacks',
  'router_settings.routing_strategy': 'Torana goes by priority, weight and health of the deployments',
  'router_settings.num_retries': RETRIES,
  'router_settings.timeout': RETRIES,
  'router_settings.retry_after': RETRIES,
  'router_settings.retry_policy': RETRIES,
  'router_settings.allowed_fails': HEALTH,
  'router_settings.cooldown_time': HEALTH,
  'router_settings.enable_pre_call_checks': 'Torana always checks before it calls',
  'router_settings.redis_host': REDIS,
  'router_settings.redis_port': REDIS,
  'router_settings.redis_password': REDIS,
  'router_settings.redis_url': REDIS,
  'router_settings.context_window_fallbacks':
    'an input that is too long is refused, not sent to another model: its vectors could not be compared',
  'router_settings.content_policy_fallbacks': "an upstream's refusal of content is final",
  'router_settings.default_fallbacks': 'another model has another vector space: see fallbacks',
  'general_settings.database_url': DATABASE,
  'general_settings.store_model_in_db':
    'models that were added in its UI stand in its database, not in this file: add them to model_list and import again',
  'general_settings.alerting': LOGS,
  'general_settings.custom_auth': 'Torana takes keys only: every caller that this code admitted needs one',
  'general_settings.enable_jwt_auth': 'Torana takes keys only: callers with tokens need a key',
  'general_settings.pass_through_endpoints': 'Torana serves embeddings and images only',
  guardrails: GUARD,
  mcp_servers: 'Torana serves embeddings and images only',
  include: 'other files are not read: put their models into one file and import again',
}

/** Sections and settings that are read elsewhere. */
const READ = new Set([
  'model_list',
  'environment_variables',
  'credential_list',
  'litellm_settings.drop_params',
  'litellm_settings.fallbacks',
  'litellm_settings.model_alias_map',
  'router_settings.model_group_alias',
  'router_settings.fallbacks',
  'general_settings.master_key',
])

/** What is carried over in this file: the cache only where the file says for how long. */
function readNames(config: Fields): ReadonlySet<string> {
  const cache = ['litellm_settings.cache', 'litellm_settings.cache_params']
  const rates = ['router_settings.optional_pre_call_checks']
  return new Set([
    ...READ,
    ...(cacheTtlOf(fieldsOf(config['litellm_settings'])) === undefined ? [] : cache),
    ...(enforcesRates(fieldsOf(config['router_settings'])) ? rates : []),
  ])
}

const SECTIONS = ['litellm_settings', 'router_settings', 'general_settings'] as const

type PlaceOf = (path: readonly (string | number)[]) => Place

export function readSettings(config: Fields, placeOf: PlaceOf, notes: Notes): Settings {
  const router = fieldsOf(config['router_settings'])
  const litellm = fieldsOf(config['litellm_settings'])
  const cacheTtl = cacheTtlOf(litellm)
  if (cacheTtl !== undefined)
    notes.mention(
      placeOf(['litellm_settings', 'cache_params']),
      'litellm_settings.cache',
      'each embedding model has `cache` with the same time. To share it between nodes set CACHE_URL, to a Redis without LiteLLM in it; images are not cached',
    )
  return {
    dropParams: isTrue(litellm['drop_params']),
    drawsByRate: router['routing_strategy'] == null || router['routing_strategy'] === 'simple-shuffle',
    enforcesRates: enforcesRates(router),
    cacheTtl,
    aliases: [
      ...aliasesIn(router['model_group_alias'], ['router_settings', 'model_group_alias'], placeOf, notes),
      ...aliasesIn(litellm['model_alias_map'], ['litellm_settings', 'model_alias_map'], placeOf, notes),
    ],
    fallbacks: [
      ...fallbacksIn(router['fallbacks'], ['router_settings', 'fallbacks'], placeOf, notes),
      ...fallbacksIn(litellm['fallbacks'], ['litellm_settings', 'fallbacks'], placeOf, notes),
    ],
  }
}

function enforcesRates(router: Fields): boolean {
  const strategy = textOf(router['routing_strategy']) ?? ''
  const checks = listOf(router['optional_pre_call_checks'])
  return strategy.startsWith('usage-based-routing') || checks.includes('enforce_model_rate_limits')
}

/** LiteLLM keeps embeddings unless its list of calls leaves them out. Without a time nothing is guessed. */
function cacheTtlOf(litellm: Fields): string | undefined {
  const params = fieldsOf(litellm['cache_params'])
  const calls = params['supported_call_types']
  const keepsEmbeddings =
    calls == null || listOf(calls).some((call) => call === 'embedding' || call === 'aembedding')
  const seconds = numberOf(params['ttl'])
  if (!isTrue(litellm['cache']) || !keepsEmbeddings || seconds === undefined) return undefined
  return Number.isInteger(seconds) && seconds > 0 ? `${seconds}s` : undefined
}

/** Tells of every setting that nothing reads. */
export function leaveSettings(config: Fields, placeOf: PlaceOf, notes: Notes): void {
  const isRead = readNames(config)
  for (const [section, content] of Object.entries(config)) {
    const isSettings = SECTIONS.some((name) => name === section)
    if (READ.has(section) || saysNothing(content)) continue
    if (!isSettings || !isMapping(content)) {
      const reason = isSettings ? 'is no mapping' : reasonFor(section)
      notes.leave(placeOf([section]), section, reason)
      continue
    }
    for (const [field, value] of Object.entries(fieldsOf(content))) {
      const name = `${section}.${field}`
      if (isRead.has(name) || saysNothing(value) || value === 'simple-shuffle') continue
      notes.leave(placeOf([section, field]), name, reasonFor(name))
    }
  }
}

function reasonFor(name: string): string {
  return (Object.hasOwn(REASONS, name) ? REASONS[name] : undefined) ?? 'has no counterpart in Torana'
}

/** `{ alias: model }` or `{ alias: { model, hidden } }`. */
function aliasesIn(given: unknown, path: readonly string[], placeOf: PlaceOf, notes: Notes): Alias[] {
  return Object.entries(fieldsOf(given)).flatMap(([alias, value]) => {
    const place = placeOf([...path, alias])
    const target = textOf(isMapping(value) ? value['model'] : value)
    if (target === undefined) notes.leave(place, alias, 'is no alias of one model')
    return target === undefined ? [] : [{ place, alias, target }]
  })
}

/** `[{ from: [to, …] }, …]`. */
function fallbacksIn(given: unknown, path: readonly string[], placeOf: PlaceOf, notes: Notes): Fallback[] {
  if (given != null && !Array.isArray(given)) notes.leave(placeOf(path), path.join('.'), 'is no list')
  return listOf(given).flatMap((item, index) =>
    Object.entries(fieldsOf(item)).map(([from, to]) => ({
      place: placeOf([...path, index, from]),
      from,
      to: (Array.isArray(to) ? to : [to]).flatMap((name) => textOf(name) ?? []),
    })),
  )
}
