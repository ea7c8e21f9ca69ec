import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { z } from 'zod'
import { configurationSchemaJson } from '#config/schema/json.ts'
import { configurationMarkdown } from './configuration.ts'
import { environmentVariables } from '#config/variables.ts'
import { exampleFile } from './example.ts'

type Json = { readonly [key: string]: unknown }

function* fieldsOf(schema: Json, path: string): Generator<[path: string, field: Json]> {
  for (const [key, field] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>)) {
    yield [`${path}.${key}`, field]
    yield* fieldsOf(field, `${path}.${key}`)
  }
  for (const part of [
    schema['items'],
    schema['additionalProperties'],
    ...((schema['anyOf'] ?? []) as Json[]),
  ]) {
    if (part !== null && typeof part === 'object') yield* fieldsOf(part as Json, path)
  }
}

test('every field is described, in the schema and on the page', () => {
  const page = configurationMarkdown()
  const fields = [...fieldsOf(JSON.parse(configurationSchemaJson()) as Json, '')]
  assert.ok(fields.length > 60)
  for (const [path, field] of fields) {
    assert.equal(typeof field['description'], 'string', path)
    assert.ok(page.includes(String(field['description'])), path)
  }
})

test('every variable that is read stands on the page', () => {
  const page = configurationMarkdown()
  for (const name of Object.keys(environmentVariables)) {
    assert.ok(page.includes(`\`${name}\``), name)
  }
})

test('an editor with the schema accepts the example with its variables, and refuses a typing error', () => {
  const schema = z.fromJSONSchema(
    JSON.parse(configurationSchemaJson()) as Parameters<typeof z.fromJSONSchema>[0],
  )
  assert.equal(schema.safeParse(parse(exampleFile)).success, true)
  assert.equal(schema.safeParse(parse(exampleFile.replace('aliases:', 'alias:'))).success, false)
})
