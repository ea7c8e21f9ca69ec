/** The JSON Schema of torana.yaml, from the schema that the code checks with. */
import { z } from 'zod'
import { isSchema, type JsonSchema } from '../file/json-schema.ts'
import { configFile } from './schema.ts'

/** Draft 7, which editors understand best. */
export function configurationSchemaJson(): string {
  const { $schema, ...schema } = schemaOfFile()
  return `${JSON.stringify({ $schema, title: 'torana.yaml', ...withReferences(schema) }, null, 2)}\n`
}

export function schemaOfFile(): JsonSchema {
  return z.toJSONSchema(configFile, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      // The library's bound of integers is no help for a reader.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
}

/** Editors see the file before variables are replaced: wherever a number or a chosen word belongs, `${VAR}` is allowed. */
function withReferences(schema: JsonSchema): JsonSchema {
  const { description, default: fallback, ...rest } = schema
  const isScalar = ['string', 'number', 'integer', 'boolean'].includes(String(schema.type))
  if (isScalar && Object.keys(rest).some((key) => key !== 'type' || rest.type !== 'string')) {
    return {
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
      anyOf: [rest, { type: 'string', pattern: String.raw`\$\{` }],
    }
  }
  return {
    ...schema,
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([key, value]) => [key, inside(value)]),
      ),
    }),
    ...(isSchema(schema.additionalProperties) && {
      additionalProperties: withReferences(schema.additionalProperties),
    }),
    ...(isSchema(schema.items) && { items: withReferences(schema.items) }),
    ...(schema.anyOf && { anyOf: schema.anyOf.map(inside) }),
  }
}

function inside<Value>(value: Value): Value | JsonSchema {
  return isSchema(value) ? withReferences(value) : value
}
