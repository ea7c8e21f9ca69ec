/** Parameters of a deployment that Torana does not take: listed by name, so that nothing is lost silently. */
import { isTrue, saysNothing, textOf } from './read.ts'
import type { Placed } from './credentials.ts'
import type { Kind } from './identity.ts'
import type { Notes } from './notes.ts'

/** Read elsewhere, or without meaning outside LiteLLM. */
const READ = new Set(
  (
    'model custom_llm_provider api_key api_base base_url api_version organization headers extra_headers drop_params ' +
    'order weight input_cost_per_token litellm_credential_name model_info use_in_pass_through output_cost_per_token ' +
    'azure_ad_token tenant_id client_id client_secret vertex_project vertex_location vertex_credentials ' +
    'aws_region_name aws_access_key_id aws_secret_access_key aws_session_token aws_bedrock_runtime_endpoint ' +
    'aws_profile_name aws_role_name aws_session_name aws_web_identity_token'
  ).split(' '),
)

const RATES =
  'LiteLLM only shares calls out by these rates, unless the router enforces them. If they are your quota at the upstream, set `limits` of the deployment: see docs/routing.md'
const TIMES = "time-outs and retries are Torana's own, for all models: see limits in its configuration"
const WIDTH =
  'LiteLLM asks for this width when callers name none, Torana for the full one: have callers send `dimensions` before you switch, or stored vectors and new ones will differ in width'
const FIXED = 'LiteLLM adds this to every request; Torana adds nothing, so callers must send it themselves'
const PRICE = 'embeddings are priced by input tokens only'

const REASONS: Readonly<Record<string, string>> = {
  rpm: RATES,
  tpm: RATES,
  itpm: RATES,
  otpm: RATES,
  max_parallel_requests: RATES,
  max_budget: 'budgets belong to projects and keys, not to deployments',
  budget_duration: 'budgets belong to projects and keys, not to deployments',
  timeout: TIMES,
  stream_timeout: TIMES,
  max_retries: TIMES,
  num_retries: TIMES,
  cooldown_time: TIMES,
  dimensions: WIDTH,
  input_type: FIXED,
  encoding_format: FIXED,
  extra_body: FIXED,
  user: FIXED,
  task: FIXED,
  input_cost_per_second: PRICE,
  input_cost_per_character: PRICE,
  input_cost_per_image: PRICE,
  output_cost_per_image: PRICE,
  cost_per_second: PRICE,
  tags: 'Torana does not route by tags',
  mock_response: "Torana answers with an upstream's vectors only",
}

/** Prices of images, which other models do not have. */
const READ_OF_IMAGES = new Set(['output_cost_per_image', 'input_cost_per_image'])

export function leaveParams(
  name: string,
  kind: Kind,
  { params, at }: Placed,
  notes: Notes,
  enforcesRates: boolean,
): void {
  for (const [field, value] of Object.entries(params)) {
    if (READ.has(field) || saysNothing(value)) continue
    if (kind === 'image' && READ_OF_IMAGES.has(field)) continue
    if (enforcesRates && (field === 'rpm' || field === 'tpm')) continue
    const reason = Object.hasOwn(REASONS, field) ? REASONS[field] : undefined
    const subject = `${name}: ${field}${isTrue(value) || reason !== WIDTH ? '' : `: ${textOf(value) ?? '…'}`}`
    notes.leave(at(field), subject, reason ?? 'has no counterpart in Torana')
  }
}
