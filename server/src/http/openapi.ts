/** What the OpenAPI documents of both listeners have in common. */
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
  return `${JSON.stringify(withoutStrangers(app.swagger()), undefined, 2)}\n`
}

interface OpenapiDocument {
  readonly paths?: unknown
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> }
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
