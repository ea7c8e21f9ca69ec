/** Fields that Torana does not know: which of them go to an upstream. */
import type { Upstream } from '../catalog/catalog.ts'
import { Fault } from '../fault/fault.ts'
import { shown } from '../fault/shown.ts'
import { carriesUnknownFields, type Refusal } from './offers.ts'

/**
 * Fields by which gateways and SDKs behind us choose another server, another credential or another model than the operator
 * did, or carry such fields inside: LiteLLM's parameters, OpenRouter's `models`, the `extra_…` of OpenAI's SDKs.
 */
const REROUTING: ReadonlySet<string> = new Set([
  'api_base',
  'api_key',
  'api_type',
  'api_version',
  'base_url',
  'custom_llm_provider',
  'default_headers',
  'deployment_id',
  'engine',
  'extra_body',
  'extra_headers',
  'extra_query',
  'fallbacks',
  'headers',
  'model_list',
  'models',
  'organization',
  'proxy',
  'user_config',
])
/** Regions, endpoints and credentials of clouds, and other fields that LiteLLM reads from a request. */
const REROUTING_FAMILY = /^(?:aws|azure|vertex|litellm)_/

/** Longest name of a field: no API has one half as long. Messages and headers repeat names. */
const MAX_NAME_CHARACTERS = 100

/** Throws for a field that is never passed on, whatever the operator allows. Servers differ in case and in dashes. */
export function checkUnknownField(name: string): void {
  if (name.length > MAX_NAME_CHARACTERS)
    throw new Fault(
      'invalid_parameter',
      `The field ${shown(name)} has a name of more than ${MAX_NAME_CHARACTERS} characters. Remove it.`,
    )
  const plain = name.toLowerCase().replaceAll('-', '_')
  if (!REROUTING.has(plain) && !REROUTING_FAMILY.test(plain)) return
  throw new Fault(
    'unsupported_parameter',
    `'${name}' would choose another server, credential or model than the operator of Torana did. Remove it.`,
    { param: name },
  )
}

interface FieldRules {
  readonly id: string
  /** Undefined: all of them pass. */
  readonly unknownFields?: readonly string[] | undefined
}

interface Receiver {
  readonly id: string
  readonly upstream: Upstream
  readonly capabilities: { readonly harmlessFields: readonly string[] }
}

/** Why one of these fields can't be sent to a deployment. */
export function unknownFieldRefusal(
  names: readonly string[],
  { id, unknownFields }: FieldRules,
  deployment: Receiver,
): Refusal | undefined {
  const [first] = names
  if (first === undefined) return undefined
  if (!carriesUnknownFields(deployment)) {
    const message = `Torana does not know the field '${first}', and the API of ${deployment.id} has no place for it. Remove it, or send the header x-torana-unsupported: drop to leave it out.`
    return { param: first, message }
  }
  if (unknownFields === undefined) return undefined
  const { harmlessFields } = deployment.capabilities
  const refused = names.find((name) => !unknownFields.includes(name) && !harmlessFields.includes(name))
  if (refused === undefined) return undefined
  const message = `Torana does not know the field '${refused}', and '${id}' takes no unknown fields. Remove it, or send the header x-torana-unsupported: drop to leave it out.`
  return { param: refused, message }
}
