/** What the OpenAPI documents of both listeners have in common. */
import type swagger from '@fastify/swagger'
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
