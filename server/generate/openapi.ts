/** The OpenAPI documents of both listeners, collected from their routes, which are only registered and never called. */
import { STATUS_CODES } from 'node:http'
import swagger from '@fastify/swagger'
import { fastify, type FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { registerControl, type ControlDependencies } from '#control/server.ts'
import { defaultLimits } from '#core/settings.ts'
import { uploadHandlers } from '#http/gateway/files/upload-routes.ts'
import { gatewayHandlers } from '#http/gateway/handlers.ts'
import { registerGateway, type GatewayDependencies } from '#http/gateway/server.ts'
import { version } from '#node/basics.ts'

export async function gatewayOpenapi(): Promise<string> {
  const app = await documentedApp({
    title: 'Torana gateway',
    description:
      'OpenAI-compatible embeddings, images and files. Every operation also answers under /openai/v1 and without a prefix.',
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'api-key' },
      xApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    },
    urlOf: documentedUrl,
  })
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const dependencies = { limits: defaultLimits, clock } as GatewayDependencies
  registerGateway(app, dependencies, gatewayHandlers(dependencies), uploadHandlers(dependencies))
  return writeText(app)
}

function documentedUrl(url: string): string {
  if (url.endsWith('/models/*')) return url.replace('*', ':model')
  return url.replace('/*', '/:model/embeddings')
}

/** Stands for every part of a node: features take their parts when they register, and use them only when they are called. */
const anyPart: object = new Proxy(() => anyPart, {
  get: (_, name) => (name === Symbol.iterator ? () => [].values() : anyPart),
})

export async function controlOpenapi(): Promise<string> {
  const app = await documentedApp({
    title: 'Torana control API',
    description:
      'Keys, projects, upstream credentials, budgets, vector spaces and the audit log. On the private control port only.',
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  })
  const given = { console: { folder: '', basePath: '/' } }
  const api = new Proxy(given, { get: (of, name) => Reflect.get(of, name) ?? anyPart })
  registerControl(app, { limits: defaultLimits, api } as unknown as ControlDependencies)
  return writeText(app)
}

type SecurityScheme =
  | { readonly type: 'http'; readonly scheme: 'bearer' }
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string }

interface DocumentParts {
  readonly title: string
  readonly description: string
  /** A caller needs one of these. */
  readonly securitySchemes: Record<string, SecurityScheme>
  /** The path of a route as the document writes it. */
  readonly urlOf?: (url: string) => string
}

async function documentedApp({
  title,
  description,
  securitySchemes,
  urlOf = (url) => url,
}: DocumentParts): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, description, version },
      components: { securitySchemes },
      security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    },
    transform: (route) => jsonSchemaTransform({ ...route, url: urlOf(route.url) }),
    transformObject: jsonSchemaTransformObject,
  })
  return app
}

async function writeText(app: FastifyInstance): Promise<string> {
  await app.ready()
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
