/** What the OpenAPI documents of both listeners have in common. */
import { STATUS_CODES } from 'node:http'
import type swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

type SecurityScheme =
  | { readonly type: 'http'; readonly scheme: 'bearer' }
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string }

interface DocumentParts {
  readonly title: string
  readonly description: string
  readonly version: string
  /** A caller needs one of these. */
  readonly securitySchemes: Record<string, SecurityScheme>
  /** The path of a route as the document writes it. */
  readonly urlOf?: (url: string) => string
}

export function openapiOf({
  title,
  description,
  version,
  securitySchemes,
  urlOf = (url) => url,
}: DocumentParts): swagger.FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: { title, description, version },
      components: { securitySchemes },
      security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    },
    transform: (route) => jsonSchemaTransform({ ...route, url: urlOf(route.url) }),
    transformObject: jsonSchemaTransformObject,
  }
}

/** The listener serves its own document. */
export function registerOpenapi(app: FastifyInstance): void {
  let text: string | undefined
  app.get('/docs/openapi.json', { schema: { hide: true } }, (_, reply) => {
    text ??= openapiText(app)
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

/** The app must be ready. */
export function openapiText(app: FastifyInstance): string {
  return `${JSON.stringify(withSharedFaults(withoutStrangers(app.swagger())), undefined, 2)}\n`
}

interface OpenapiDocument {
  readonly paths?: unknown
  readonly components?: {
    readonly schemas?: Readonly<Record<string, unknown>>
    readonly responses?: Readonly<Record<string, unknown>>
  }
}

/**
 * Both listeners register their schemas in one place: those that no path of this listener uses are left out. The rest are sorted,
 * since they come in the order in which files import one another.
 */
function withoutStrangers(document: OpenapiDocument): OpenapiDocument {
  const all = document.components?.schemas ?? {}
  const named = new Set<string>()
  const follow = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (named.has(name)) continue
      named.add(name)
      follow(all[name])
    }
  }
  follow(document.paths)
  const schemas = Object.fromEntries([...named].sort().map((name) => [name, all[name]]))
  return { ...document, components: { ...document.components, schemas } }
}

type Responses = Record<string, { readonly description?: string }>

/** Names each answer that carries a fault once, in `components.responses`; routes refer to it. */
function withSharedFaults(document: OpenapiDocument): OpenapiDocument {
  const shared = new Map<string, { readonly name: string; readonly response: unknown }>()
  const paths = structuredClone(document.paths ?? {}) as Record<
    string,
    Record<string, { responses: Responses }>
  >
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const faults = operations.flatMap(({ responses }) =>
    Object.entries(responses).filter(([status]) => Number(status) >= 400),
  )
  // Of two lists of codes with one status, the longer is that of the playground, which answers as the gateway does.
  for (const [status, response] of faults.toSorted((a, b) => codesOf(a[1]).length - codesOf(b[1]).length)) {
    const key = `${status} ${response.description ?? ''}`
    if (shared.has(key)) continue
    const name = responseName(status, codesOf(response))
    const isTaken = [...shared.values()].some((one) => one.name === name)
    shared.set(key, { name: isTaken ? `Gateway${name}` : name, response })
  }
  for (const { responses } of operations)
    for (const [status, { description = '' }] of Object.entries(responses)) {
      const one = shared.get(`${status} ${description}`)
      if (one) responses[status] = { $ref: `#/components/responses/${one.name}` } as object
    }
  const named = [...shared.values()].map(({ name, response }) => [name, response] as const)
  const responses = Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  if (named.length !== Object.keys(responses).length)
    throw new Error('two answers with a fault have one name in the OpenAPI document')
  return { ...document, components: { ...document.components, responses }, paths }
}

function codesOf({ description = '' }: { readonly description?: string }): readonly string[] {
  return description.split(', ')
}

/** `TooManyWrongKeys` for one code, else the words of its status: `BadRequest`. */
function responseName(status: string, codes: readonly string[]): string {
  const text = codes.length === 1 ? (codes[0] ?? '') : (STATUS_CODES[status] ?? status)
  return text
    .split(/[^A-Za-z]+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')
}
