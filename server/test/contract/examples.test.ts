/** The examples of both OpenAPI contracts are what their operations accept and answer: readers paste them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { REPOSITORY } from '#test/support/docs-pages.ts'

interface Contract {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly examples?: readonly unknown[] }>>
  }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: unknown }>>>>
}

/** An email address becomes lower case: Zod drops the examples of a body that it transforms. */
const TRANSFORMED = new Set(['SignInInput', 'FirstRunInput', 'NewInvitationInput'])

for (const name of ['gateway', 'control']) {
  // Zod looks for named schemas in `$defs`.
  const text = readFileSync(join(REPOSITORY, `contract/${name}.openapi.json`), 'utf8').replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  )
  const { components, paths } = JSON.parse(text) as Contract
  const { schemas } = components

  test(`${name}: every body has an example`, () => {
    const bodies = Object.values(paths).flatMap((methods) => Object.values(methods))
    const named = bodies.flatMap(({ requestBody }) =>
      [...JSON.stringify(requestBody ?? {}).matchAll(/#\/\$defs\/(\w+)/g)].map(([, one = '']) => one),
    )
    assert.ok(named.length > 5, 'found too few bodies: the check would pass vacuously')
    assert.deepEqual(
      named.filter((one) => schemas[one]?.examples === undefined && !TRANSFORMED.has(one)),
      [],
    )
  })

  for (const [id, schema] of Object.entries(schemas).filter(([, { examples }]) => examples !== undefined))
    test(`${name}: the example of ${id} fits its schema`, () => {
      const whole = z.fromJSONSchema({ ...schema, $defs: schemas } as Parameters<typeof z.fromJSONSchema>[0])
      for (const example of schema.examples ?? []) whole.parse(example)
    })
}
