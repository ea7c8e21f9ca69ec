/** The built-in facts about well-known providers and models: `server/catalog/<provider>.yaml`. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { deserialize } from 'node:v8'
import { z } from 'zod'
import type { DialectName } from '#core/catalog/catalog.ts'
import { DEMO_MAX_TOKENS } from '#core/catalog/demo.ts'
import type { EndFields } from '#core/catalog/model-end.ts'
import { CATALOG_FOLDER, PREPARED } from '#package/files.ts'
import { image } from '../schema/image.ts'
import { capabilities, day, embedding, imageCapabilities, modelId } from '../schema/model.ts'
import { forEmbeddings, forImages, priceFields, priceWord } from '../schema/price.ts'
import { ConfigError } from '../file/problem.ts'
import { validate } from '../file/validate.ts'
import { parseSource } from '../file/yaml.ts'
import type { Source } from '../file/yaml.ts'

const factPrice = z.union([
  priceWord,
  priceFields.extend({ source: z.url(), asOf: day, note: z.string().optional() }),
])

/** The source of a price, and the day on which it was read. */
export interface PriceOrigin {
  readonly source: string
  readonly asOf: string
}

function withOrigin<Fields>(
  form: z.output<typeof factPrice>,
  price: Fields,
): Fields | (Extract<Fields, object> & { readonly origin: PriceOrigin }) {
  if (typeof form === 'string' || typeof price !== 'object' || price === null) return price
  const { source, asOf } = form
  return { ...(price as Extract<Fields, object>), origin: { source, asOf } }
}

/** Undefined when the price has no source. */
export function priceOriginOf(facts: ModelFacts | undefined): PriceOrigin | undefined {
  const price = facts?.price
  return typeof price === 'object' && 'origin' in price ? price.origin : undefined
}

// A fact of the wire that is worth keeping; floats are asked for by leaving the field out, which every server understands.
const factCapabilities = capabilities.extend({ acceptsFloatField: z.boolean().optional() })

const endOrigin = { source: z.url(), asOf: day, note: z.string().min(1).optional() }

/** Where the facts about wires and models were read, and when: a page, or the program whose source says it. */
const factSource = z.strictObject({ source: z.string().min(1).max(500), asOf: day })

const commonFacts = {
  upstreamModel: z.string().min(1).optional(),
  aliases: z.array(modelId).default([]),
  /** Absent: that of the provider. */
  factSource: factSource.optional(),
  /** Names by which the provider answers, beside the one that was asked for. */
  answersAs: z.array(modelId).optional(),
  /** When this provider shuts it down. Another one that serves it may have another day. */
  endsOn: day.optional(),
  successor: modelId.optional(),
  endSource: z.strictObject(endOrigin).optional(),
}

const embeddingModel = z.strictObject({
  kind: z.literal('embedding'),
  ...commonFacts,
  embedding,
  /** A space that it shares with other models, by their maker's word. */
  space: z.strictObject({ name: z.string().min(1), ...endOrigin }).optional(),
  capabilities: factCapabilities.optional(),
  price: factPrice.transform((form, context) => withOrigin(form, forEmbeddings(form, context))).optional(),
})

const imageModel = z.strictObject({
  kind: z.literal('image'),
  ...commonFacts,
  image: image.default({}),
  capabilities: imageCapabilities.optional(),
  price: factPrice.transform((form, context) => withOrigin(form, forImages(form, context))).optional(),
})

const modelFacts = z.discriminatedUnion('kind', [embeddingModel, imageModel], {
  error: 'expected kind: embedding or kind: image',
})

const dialect = z.enum(['openai', 'azure', 'ai-sdk'])

const providerFile = z.strictObject({
  provider: z.string().min(1),
  name: z.string().min(1),
  dialect,
  /** Set where its images have a separate wire. */
  imageDialect: dialect.optional(),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  factSource,
  capabilities: factCapabilities.default({}),
  imageCapabilities: imageCapabilities.default({}),
  models: z.record(modelId, modelFacts).default({}),
  retired: z
    .record(
      modelId,
      z.strictObject({
        on: day,
        successor: modelId.optional(),
        source: endOrigin.source.optional(),
        asOf: endOrigin.asOf.optional(),
        note: endOrigin.note,
      }),
    )
    .default({}),
})

export type ModelFacts = z.output<typeof modelFacts>
export type ProviderFacts = Omit<z.output<typeof providerFile>, 'dialect' | 'imageDialect'> & {
  readonly dialect: DialectName
  readonly imageDialect?: DialectName | undefined
}
/** By provider id. */
export type Facts = ReadonlyMap<string, ProviderFacts>

/** The in-process models of a first start: small, real, and there without any key. */
const demo: ProviderFacts = {
  provider: 'demo',
  name: 'Demo',
  dialect: 'demo',
  factSource: { source: 'this program', asOf: '2026-11-15' },
  capabilities: { maxInputs: 64, encodings: ['float'] },
  imageCapabilities: {
    maxImages: 4,
    sizes: {
      default: '512x512',
      maxEdge: 2048,
      multipleOf: 1,
      minPixels: 4096,
      maxPixels: 4_194_304,
      maxRatio: 16,
    },
    backgrounds: ['opaque', 'transparent'],
    // Other formats are converted from it.
    formats: ['png'],
    forms: ['b64_json'],
    stream: true,
    maxPartialImages: 3,
    edits: { maxInputs: 16, inputFormats: ['png', 'jpeg', 'webp'], mask: 'alpha', markup: true },
  },
  models: {
    'demo-embed': {
      kind: 'embedding',
      aliases: [],
      // Token arrays come from OpenAI's clients, LangChain's default among them, and are decoded as theirs.
      embedding: {
        dimensions: 512,
        matryoshka: false,
        maxInputTokens: DEMO_MAX_TOKENS,
        tokenizer: 'cl100k_base',
        inputType: 'none',
        // The demo shows every type. docs/smaller-vectors.md says what binary loses.
        binary: 'accepted',
      },
      price: 'free',
    },
    'demo-image': { kind: 'image', aliases: [], image: {}, price: 'free' },
  },
  retired: {},
}

let builtIn: Facts | undefined

/** Read once: they ship with the program and can't change while it runs. */
export function builtInFacts(): Facts {
  builtIn ??=
    PREPARED === undefined ? readFacts(catalogFiles()) : (deserialize(readFileSync(PREPARED.facts)) as Facts)
  return builtIn
}

interface CatalogFile {
  readonly name: string
  readonly text: string
}

function catalogFiles(): readonly CatalogFile[] {
  return readdirSync(CATALOG_FOLDER)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => ({ name: `catalog/${file}`, text: readFileSync(join(CATALOG_FOLDER, file), 'utf8') }))
}

/** Throws a `ConfigError` with every problem there is. */
export function readFacts(files: readonly CatalogFile[]): Facts {
  const facts = new Map<string, ProviderFacts>([[demo.provider, demo]])
  const problems: string[] = []
  for (const { name, text } of files) {
    const source = parseSource(name, text)
    const provider = source.data === undefined ? undefined : validate(providerFile, source)?.value
    if (provider) {
      compareWithOthers(provider, facts, name, source)
      facts.set(provider.provider, provider)
    }
    problems.push(...source.report.problems())
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return facts
}

function compareWithOthers(provider: ProviderFacts, facts: Facts, file: string, { report }: Source): void {
  const expected = basename(file, '.yaml')
  if (provider.provider !== expected) report.problem(['provider'], `must be ${expected}, like the file`)
  for (const [id, model] of Object.entries(provider.models)) {
    const hasDate = model.endsOn !== undefined
    if (hasDate !== (model.endSource !== undefined) || (!hasDate && model.successor !== undefined))
      report.problem(['models', id], 'endsOn needs an endSource, and a successor needs endsOn')
    if (provider.retired[id] !== undefined) report.problem(['retired', id], 'is also among the models')
    for (const other of facts.values()) {
      const twin = other.models[id]
      if (twin && !isDeepStrictEqual(everywhere(twin), everywhere(model))) {
        report.problem(
          ['models', id, twin.kind === model.kind ? model.kind : 'kind'],
          `differs from what catalog/${other.provider}.yaml says of the same model`,
        )
      }
    }
  }
}

/** Facts of a model that hold wherever it runs. */
function everywhere(model: ModelFacts): unknown {
  return model.kind === 'embedding' ? model.embedding : model.image
}

/** A provider's facts about a model, found by its id or an alias. */
export function factsOf(
  provider: ProviderFacts | undefined,
  id: string,
): { readonly id: string; readonly facts: ModelFacts } | undefined {
  if (!provider) return undefined
  const direct = provider.models[id]
  if (direct) return { id, facts: direct }
  const found = Object.entries(provider.models).find(([, facts]) => facts.aliases.includes(id))
  return found && { id: found[0], facts: found[1] }
}

/** When a provider shuts a model down, by the upstream's name for it. Undefined when it does not know the name. */
export function endByName(
  provider: ProviderFacts,
  name: string,
): { readonly end: EndFields | undefined } | undefined {
  const found = Object.entries(provider.models).find(
    ([id, one]) => (one.upstreamModel ?? id) === name || one.aliases.includes(name),
  )
  if (found) return { end: endOfFacts(found[1]) }
  const retired = provider.retired[name]
  return retired && { end: retired }
}

export function endOfFacts({ endsOn, successor, endSource }: ModelFacts): EndFields | undefined {
  return endsOn === undefined ? undefined : { on: endsOn, successor, ...endSource }
}

/** The facts of the first provider that has the model: its kind and `embedding` or `image` are the same in all. */
export function modelFactsOf(facts: Facts, id: string): ModelFacts | undefined {
  for (const provider of facts.values()) {
    const found = factsOf(provider, id)
    if (found) return found.facts
  }
  return undefined
}

export function embeddingFactsOf(facts: Facts, id: string) {
  const known = modelFactsOf(facts, id)
  return known?.kind === 'embedding' ? known.embedding : undefined
}

export function knownModels(facts: Facts): string[] {
  return [...new Set([...facts.values()].flatMap((provider) => Object.keys(provider.models)))]
}
