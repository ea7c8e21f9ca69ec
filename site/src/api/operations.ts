/** The operations of both contracts, ready to be written as pages. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxLength?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
  readonly description?: string
  readonly $ref?: string
}

interface Contract {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Body>>
  }
}

interface RawOperation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
  readonly 'x-permission'?: string
}

export type Api = 'gateway' | 'control'

export interface Operation {
  readonly api: Api
  /** `createEmbeddings` is the page `create-embeddings`. */
  readonly slug: string
  readonly title: string
  readonly summary: string
  readonly method: string
  readonly path: string
  readonly permission: string | undefined
  readonly parameters: readonly Field[]
  readonly body: readonly Field[]
  readonly answer: readonly Field[]
  readonly answerStatus: string
  readonly requestExample: unknown
  readonly answerExample: unknown
  readonly contentType: string | undefined
  readonly errors: readonly { readonly status: string; readonly codes: readonly string[] }[]
}

export interface Field {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  /** An addition of Torana to OpenAI's API. */
  readonly isOwn: boolean
  readonly place: string
  readonly description: string
}

export const API_NAMES: Readonly<Record<Api, string>> = { gateway: 'Gateway API', control: 'Control API' }

/** Fields of the gateway that OpenAI's API does not have. */
const OWN_FIELDS = new Set(['input_type', 'metadata', 'provenance', 'complexity', 'frame_count', 'markup'])
/** In the sidebar: the others are on the page that lists all. */
const MAIN_OPERATIONS = [
  'createEmbeddings',
  'createImages',
  'editImages',
  'getImageJob',
  'createFile',
  'createBatch',
  'listModels',
]
/** A deeper schema is a link to the contract, not a page. */
const MAX_DEPTH = 2

function contractOf(api: Api): Contract {
  // Astro runs a build in the folder of its configuration.
  return JSON.parse(readFileSync(join(process.cwd(), `../contract/${api}.openapi.json`), 'utf8')) as Contract
}

export function operationsOf(api: Api): Operation[] {
  const contract = contractOf(api)
  return Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => operationOf(api, contract, { path, method, raw })),
  )
}

export function gatewayLinks(): { label: string; link: string; attrs: Record<string, string> }[] {
  const all = operationsOf('gateway')
  const main = MAIN_OPERATIONS.flatMap((id) => all.filter(({ slug }) => slug === slugOf(id)))
  return [
    { label: API_NAMES.gateway, link: '/api/gateway/', attrs: { class: 'strong' } },
    ...main.map(({ title, slug, method }) => ({
      label: title,
      link: `/api/gateway/${slug}/`,
      attrs: { 'data-method': method },
    })),
    { label: API_NAMES.control, link: '/api/control/', attrs: { class: 'strong' } },
  ]
}

function operationOf(
  api: Api,
  contract: Contract,
  { path, method, raw }: { readonly path: string; readonly method: string; readonly raw: RawOperation },
): Operation {
  const [contentType, content] = Object.entries(raw.requestBody?.content ?? {})[0] ?? []
  const [answerStatus = '200', answer] =
    Object.entries(raw.responses).find(([status]) => status.startsWith('2')) ?? []
  const answerSchema = answer?.content?.['application/json']?.schema
  return {
    api,
    slug: slugOf(raw.operationId),
    title: titleOf(raw.operationId),
    summary: raw.summary,
    method: method.toUpperCase(),
    path,
    permission: raw['x-permission'],
    parameters: (raw.parameters ?? []).map((parameter) => ({
      name: parameter.name,
      type: typeOf(contract, parameter.schema),
      isRequired: parameter.required ?? false,
      isOwn: false,
      place: parameter.in,
      description: parameter.description ?? '',
    })),
    body: fieldsOf(contract, content?.schema, 0, api),
    answer: fieldsOf(contract, answerSchema, 0, 'control'),
    answerStatus,
    requestExample: exampleOf(contract, content?.schema),
    answerExample: exampleOf(contract, answerSchema),
    contentType,
    errors: Object.entries(raw.responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, response]) => {
        const name = response.$ref?.split('/').at(-1) ?? ''
        const { description = '' } = contract.components.responses[name] ?? response
        return { status, codes: description.split(', ') }
      }),
  }
}

/** `createEmbeddings` → `Create embeddings`. */
function titleOf(operationId: string): string {
  const words = operationId
    .replaceAll(/([A-Z])/g, ' $1')
    .toLowerCase()
    .trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function slugOf(operationId: string): string {
  return operationId.replaceAll(/([A-Z])/g, '-$1').toLowerCase()
}

function resolved(contract: Contract, schema: Schema | undefined): Schema {
  if (schema?.$ref === undefined) return schema ?? {}
  return contract.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}
}

function exampleOf(contract: Contract, schema: Schema | undefined): unknown {
  return resolved(contract, schema).examples?.[0]
}

function fieldsOf(contract: Contract, schema: Schema | undefined, depth: number, api: Api): Field[] {
  const whole = resolved(contract, schema)
  const parts = [whole, ...(whole.allOf ?? []).map((part) => resolved(contract, part))]
  const own = parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, field]) => {
      const inner = nested(contract, field)
      return [
        {
          name,
          type: typeOf(contract, field),
          isRequired: required.includes(name),
          isOwn: api === 'gateway' && depth === 0 && OWN_FIELDS.has(name),
          place: 'body',
          description: field.description ?? resolved(contract, field).description ?? '',
        },
        ...(depth < MAX_DEPTH
          ? fieldsOf(contract, inner, depth + 1, api).map((one) => ({
              ...one,
              name: `${name}${isList(contract, field) ? '[]' : ''}.${one.name}`,
            }))
          : []),
      ]
    }),
  )
  return own
}

/** The object inside of a field: itself, the one of a list, or the one beside `null`. */
function nested(contract: Contract, field: Schema): Schema | undefined {
  const whole = resolved(contract, field)
  if (whole.properties !== undefined) return whole
  if (whole.items !== undefined) return nested(contract, whole.items)
  const options = (whole.anyOf ?? whole.oneOf ?? []).filter(({ type }) => type !== 'null')
  return options.length === 1 && options[0] !== undefined ? nested(contract, options[0]) : undefined
}

function isList(contract: Contract, field: Schema): boolean {
  return resolved(contract, field).type === 'array'
}

function typeOf(contract: Contract, schema: Schema): string {
  const whole = resolved(contract, schema)
  if (whole.const !== undefined) return JSON.stringify(whole.const).replaceAll('"', '')
  if (whole.enum !== undefined) return listed(whole.enum.map(String))
  const options = whole.anyOf ?? whole.oneOf
  if (options !== undefined) {
    const types = options.filter(({ type }) => type !== 'null').map((one) => typeOf(contract, one))
    return listed([...new Set(types)])
  }
  if (whole.type === 'array') {
    const item = typeOf(contract, whole.items ?? {})
    const isPlain = /^(?:string|integer|number|boolean|object)\b/.test(item) && !item.includes(' or ')
    return isPlain ? `${item.replace(/, .*$/, '')}[]` : `list of ${item}`
  }
  const name = [whole.type ?? 'any']
    .flat()
    .filter((one) => one !== 'null')
    .join(' or ')
  if (name === 'string' && whole.maxLength !== undefined && whole.maxLength < 10_000)
    return `string, up to ${whole.maxLength} characters`
  if (name === 'integer' || name === 'number') return `${name}${range(whole)}`
  return name
}

/** Bounds that come of the language, such as the largest integer, say nothing. */
function range({ minimum, maximum }: Schema): string {
  const low = minimum === undefined || minimum <= 0 ? undefined : minimum
  const high = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum
  if (high === undefined) return low === undefined ? '' : `, at least ${low}`
  return `, ${(minimum ?? 0).toLocaleString('en')} to ${high.toLocaleString('en')}`
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
