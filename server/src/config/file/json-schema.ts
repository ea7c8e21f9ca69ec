import type { z } from 'zod'

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** The alternatives of a schema that a person can choose from; a schema without alternatives is its own. */
export function branchesOf(schema: JsonSchema): readonly JsonSchema[] {
  const branches = schema.anyOf ?? schema.oneOf
  return branches ? branches.filter(isSchema).filter(({ type }) => type !== 'null') : [schema]
}

/** JSON Schema also allows `true` and `false` in place of a schema. */
export function isSchema(value: unknown): value is JsonSchema {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
