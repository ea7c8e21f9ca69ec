/** OpenTelemetry's own variables → settings. Their names and forms are those of its specification. */
import type { TracingSettings } from '#core/settings.ts'
import { anyOf, didYouMean } from './file/problem.ts'

type EndpointName = 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
type PairsName = 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES'
type Name = EndpointName | PairsName
type NameWithDefault =
  | 'OTEL_EXPORTER_OTLP_PROTOCOL'
  | 'OTEL_EXPORTER_OTLP_TIMEOUT'
  | 'OTEL_SERVICE_NAME'
  | 'OTEL_TRACES_SAMPLER'
  | 'OTEL_TRACES_SAMPLER_ARG'
  | 'OTEL_PROPAGATORS'
  | 'OTEL_SDK_DISABLED'

interface Variables {
  given(name: Name): string | undefined
  text(name: NameWithDefault): string
  refuse(name: Name | NameWithDefault, problem: string): void
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const
const PARENT_BASED = 'parentbased_'
const ALL_SAMPLERS = [...SAMPLERS, ...SAMPLERS.map((name) => `${PARENT_BASED}${name}`)]
const PROPAGATORS = ['tracecontext', 'baggage', 'none']

/** Undefined: there is no receiver, and no traces are made. */
export function tracingOf(variables: Variables): TracingSettings | undefined {
  const url =
    variables.given('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') === undefined
      ? urlOf(variables, 'OTEL_EXPORTER_OTLP_ENDPOINT')?.replace(/\/*$/, '/v1/traces')
      : urlOf(variables, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  if (url === undefined || variables.text('OTEL_SDK_DISABLED') === 'true') return undefined
  const protocol = variables.text('OTEL_EXPORTER_OTLP_PROTOCOL')
  if (protocol !== 'http/protobuf')
    variables.refuse(
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      `Torana speaks http/protobuf only, got "${protocol}". Receivers take it on port 4318 as a rule`,
    )
  const propagators = propagatorsOf(variables)
  return {
    url,
    headers: pairsOf(variables, 'OTEL_EXPORTER_OTLP_HEADERS'),
    timeoutMs: timeoutOf(variables),
    resource: {
      'service.name': variables.text('OTEL_SERVICE_NAME'),
      ...pairsOf(variables, 'OTEL_RESOURCE_ATTRIBUTES'),
    },
    ...samplerOf(variables),
    isHandedOn: propagators.includes('tracecontext'),
    isBaggageHandedOn: propagators.includes('baggage'),
  }
}

function urlOf(variables: Variables, name: EndpointName): string | undefined {
  const value = variables.given(name)
  if (value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? '')) return value
  variables.refuse(name, `expected a URL such as http://collector:4318, got "${value}"`)
  return undefined
}

function timeoutOf(variables: Variables): number {
  const value = variables.text('OTEL_EXPORTER_OTLP_TIMEOUT')
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value)
  variables.refuse('OTEL_EXPORTER_OTLP_TIMEOUT', `expected milliseconds from 1 to 999999, got "${value}"`)
  return 0
}

function samplerOf(variables: Variables): Pick<TracingSettings, 'ratio' | 'followsParent'> {
  const sampler = variables.text('OTEL_TRACES_SAMPLER')
  if (!ALL_SAMPLERS.includes(sampler))
    variables.refuse(
      'OTEL_TRACES_SAMPLER',
      `expected ${anyOf(ALL_SAMPLERS)}, got "${sampler}".${didYouMean(sampler, ALL_SAMPLERS)}`,
    )
  const value = variables.text('OTEL_TRACES_SAMPLER_ARG')
  const share = Number(value)
  if (!(share >= 0 && share <= 1))
    variables.refuse('OTEL_TRACES_SAMPLER_ARG', `expected a number from 0 to 1, got "${value}"`)
  const kind = sampler.replace(PARENT_BASED, '')
  const ratio = kind === 'traceidratio' ? share : Number(kind === 'always_on')
  return { ratio, followsParent: sampler.startsWith(PARENT_BASED) }
}

function propagatorsOf(variables: Variables): readonly string[] {
  const names = variables
    .text('OTEL_PROPAGATORS')
    .split(',')
    .map((name) => name.trim())
  for (const name of names)
    if (!PROPAGATORS.includes(name))
      variables.refuse('OTEL_PROPAGATORS', `expected ${anyOf(PROPAGATORS)}, got "${name}"`)
  return names
}

/** `name=value,name=value`. The values may be secrets: a problem does not repeat them. */
function pairsOf(variables: Variables, name: PairsName): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {}
  for (const [index, pair] of (variables.given(name)?.split(',') ?? []).entries()) {
    const [, key, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? []
    const decoded = value === undefined ? undefined : decodedOf(value.trim())
    if (key !== undefined && decoded !== undefined) pairs[key] = decoded
    else variables.refuse(name, `part ${index + 1} is not of the form name=value, percent-encoded`)
  }
  return pairs
}

function decodedOf(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}
