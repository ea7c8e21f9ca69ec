/** The operations of an OpenAPI document in the form that the page shows. Pure, tested. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly additionalProperties?: Schema | boolean
  readonly format?: string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

interface Content {
  readonly schema?: Schema
}

interface Answer {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Readonly<Record<string, Content>>
}

interface RawOperation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly responses: Readonly<Record<string, Answer>>
  readonly 'x-permission'?: string
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Answer>>
  }
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  /** `keys`, of `/api/v1/keys/{project}`. */
  readonly group: string
  readonly summary: string
  readonly description: string | undefined
  readonly parameters: readonly Parameter[]
  /** By media type. */
  readonly bodies: readonly (readonly [type: string, schema: Schema])[]
  readonly answers: readonly (readonly [status: string, text: string, schema: Schema | undefined])[]
  /** Undefined: a route of the gateway. */
  readonly permission: string | undefined
}

export function operationsOf(document: Document): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => ({
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      group: path.replace(/^\/(?:api\/)?(?:v1|openai)\//, '').split('/')[0] ?? '',
      summary: raw.summary ?? raw.operationId,
      description: raw.description,
      parameters: raw.parameters ?? [],
      bodies: Object.entries(raw.requestBody?.content ?? {}).flatMap(([type, { schema }]) =>
        schema === undefined ? [] : [[type, schema] as const],
      ),
      answers: Object.entries(raw.responses).map(([status, answer]) => {
        const found = answerOf(answer, document)
        return [status, found.description ?? '', Object.values(found.content ?? {})[0]?.schema] as const
      }),
      permission: raw['x-permission'],
    })),
  )
}

function answerOf(answer: Answer, { components }: Document): Answer {
  return answer.$ref === undefined ? answer : (components.responses[nameOf(answer.$ref)] ?? answer)
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

export function resolved(schema: Schema, document: Document): Schema {
  if (schema.$ref !== undefined) {
    const found = document.components.schemas[nameOf(schema.$ref)]
    return found === undefined ? schema : resolved(found, document)
  }
  const [only] = schema.allOf ?? []
  return schema.allOf?.length === 1 && only !== undefined
    ? { ...resolved(only, document), ...schema }
    : schema
}

/** Every typed word is in the method, the path, the summary or the id. */
export function matches({ method, path, summary, id }: Operation, typed: string): boolean {
  const text = `${method} ${path} ${summary} ${id}`.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((part) => text.includes(part))
}

/** `string`, `"a" | "b"`, `Key[]`, `integer | null`. */
export function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const several = schema.anyOf ?? schema.oneOf
  if (several !== undefined) return [...new Set(several.map(typeText))].join(' | ')
  if (schema.allOf?.[0] !== undefined) return typeText(schema.allOf[0])
  if (schema.type === 'array')
    return `${grouped(schema.items === undefined ? 'any' : typeText(schema.items))}[]`
  if (Array.isArray(schema.type)) return schema.type.join(' | ')
  return typeof schema.type === 'string' ? schema.type : 'any'
}

function grouped(text: string): string {
  return text.includes(' | ') ? `(${text})` : text
}

/** Levels of a body that an example is made of: deeper ones are seldom required. */
const MAX_DEPTH = 4

/** The example of the contract, or one made of the required fields. */
export function exampleOf(schema: Schema, document: Document, depth = 0): unknown {
  const whole = resolved(schema, document)
  if (whole.examples?.[0] !== undefined) return whole.examples[0]
  if (whole.default !== undefined) return whole.default
  if (whole.const !== undefined) return whole.const
  if (whole.enum !== undefined) return whole.enum[0]
  const [first] = whole.anyOf ?? whole.oneOf ?? []
  if (first !== undefined) return exampleOf(first, document, depth)
  switch (Array.isArray(whole.type) ? whole.type[0] : whole.type) {
    case 'object':
      return Object.fromEntries(
        depth >= MAX_DEPTH
          ? []
          : Object.entries(whole.properties ?? {})
              .filter(([name]) => whole.required?.includes(name) === true)
              .map(([name, property]) => [name, exampleOf(property, document, depth + 1)]),
      )
    case 'array':
      return []
    case 'integer':
    case 'number':
      return 1
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return ''
  }
}

/** The address with what was typed: path parameters in place, query parameters that have a value. */
export function addressOf(
  { path, parameters }: Pick<Operation, 'path' | 'parameters'>,
  values: Readonly<Record<string, string>>,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const query = new URLSearchParams()
  for (const { name, in: where } of parameters)
    if (where === 'query' && values[name] !== undefined && values[name] !== '')
      for (const value of values[name].split('\n')) query.append(name, value)
  const text = query.toString()
  return text === '' ? filled : `${filled}?${text}`
}

/** The call in a shell. Torana's keys and tokens never have the name of a provider's. */
export function curlOf(
  { method, bodies }: Pick<Operation, 'method' | 'bodies'>,
  url: string,
  secret: string,
  body: string | undefined,
): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
  const [type] = bodies[0] ?? []
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    `-H "Authorization: Bearer ${secret}"`,
    ...(body === undefined || type === undefined
      ? []
      : [`-H ${quoted(`Content-Type: ${type}`)}`, `-d ${quoted(body)}`]),
  ].join(' \\\n  ')
}
