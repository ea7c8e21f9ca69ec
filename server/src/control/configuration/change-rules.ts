/** Changes as requests and answers have them. */
import { z } from 'zod'
import type { ChangedObject, StoredEntry } from '#ports/stored-configuration.ts'
import type { Change } from '../shared/configuration-change.ts'
import { upstreamName } from '../shared/model-fields.ts'

/** Changes of one set: more than a person reviews. */
const MAX_CHANGES = 50
/** An entry as JSON. That of a model with fifty deployments has a tenth of it. */
const MAX_ENTRY_CHARACTERS = 100_000

const entry = z
  .record(z.string(), z.unknown())
  .refine(
    (value) => JSON.stringify(value).length <= MAX_ENTRY_CHARACTERS,
    `is longer than ${MAX_ENTRY_CHARACTERS} characters`,
  )
  .describe(
    'As below `upstreams` or `models` of torana.yaml, with its names and values. Without a secret. A model names upstreams as they are called before the set.',
  )

export const revision = z
  .string()
  .regex(/^\d{1,18}$/, 'expected a revision as answers have it')
  .describe('Another one after every change of the object.')

const modelId = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'a model id has 1 to 200 visible ASCII characters without spaces')

const common = {
  entry: entry.nullable().describe('null: delete it.'),
  base: revision.nullable().describe('The revision that you changed. null: the store has no such object.'),
}

export const change = z
  .discriminatedUnion('object', [
    z.strictObject({
      object: z.literal('upstream'),
      name: upstreamName,
      rename_to: upstreamName
        .optional()
        .describe(
          'It keeps its key, prices and space checks. The ledger keeps the old name. The name may be one that another change of the set gives up.',
        ),
      ...common,
    }),
    z.strictObject({ object: z.literal('model'), name: modelId, ...common }),
  ])
  .meta({ id: 'ConfigurationChange' })

export const changeSet = z.strictObject({ changes: z.array(change).max(MAX_CHANGES) }).meta({
  id: 'ConfigurationChanges',
  examples: [
    {
      changes: [
        {
          object: 'model',
          name: 'bge-m3',
          entry: { deployments: [{ upstream: 'gpu-one', weight: 70 }] },
          base: '41',
        },
      ],
    },
  ],
})

export const changedObject = z
  .object({
    object: z.enum(['upstream', 'model']),
    name: z.string(),
    renamed_from: z.string().nullable(),
    before: z.record(z.string(), z.unknown()).nullable().describe('null: it was not there.'),
    after: z.record(z.string(), z.unknown()).nullable().describe('null: it is deleted.'),
  })
  .meta({ id: 'ChangedObject' })

type Body = z.output<typeof change>

export function changeOf(body: Body): Change {
  const { object, name, base, entry: given } = body
  return {
    object,
    name,
    entry: given,
    base: base === null ? null : BigInt(base),
    ...('rename_to' in body && body.rename_to !== undefined && { renameTo: body.rename_to }),
  }
}

export function changeBody({ object, name, entry: given, base, renameTo }: Change): Body {
  const fields = { name, entry: given && copied(given), base: base === null ? null : String(base) }
  if (object === 'model') return { object, ...fields }
  return { object, ...fields, ...(renameTo !== undefined && { rename_to: renameTo }) }
}

export function objectBody({ object, name, renamedFrom, before, after }: ChangedObject) {
  return {
    object,
    name,
    renamed_from: renamedFrom ?? null,
    before: before && copied(before),
    after: after && copied(after),
  }
}

function copied(given: StoredEntry): Record<string, unknown> {
  return { ...given }
}

/** Its folder is not disclosed. */
export function fileName(file: string | undefined): string {
  return file?.split(/[/\\]/).at(-1) ?? 'torana.yaml'
}
