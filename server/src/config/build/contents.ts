import type { EmbeddingCapabilities, EmbeddingFacts } from '#core/catalog/catalog.ts'
import { TYPED_WIRES, type ContentCapabilities } from '#core/catalog/content-capabilities.ts'
import { MEDIA_FORMATS, type MediaFormat, type MediaKind, type PartKind } from '#core/content/content.ts'
import { INPUT_UNITS } from '#core/money/price-form.ts'
import type { PartRate, PartRates } from '#core/money/price.ts'
import type { Path, Report } from '../file/problem.ts'
import type { ContentFields } from '../schema/contents.ts'
import { nanoUsdIn } from '../schema/price.ts'

/** Parts of a content where a model fuses and no limit is known: a page of text with its images. */
const DEFAULT_PARTS = 16

/** Formats that every server of the kind reads. */
const COMMON_FORMATS: Readonly<Record<MediaKind, readonly MediaFormat[]>> = {
  image: ['png', 'jpeg'],
  audio: ['mp3', 'wav'],
  video: ['mp4'],
  file: ['pdf'],
}

export function resolveContents(fields: ContentFields): ContentCapabilities {
  const { wire, inputs, fuses = false, fetches = false, formats, ...limits } = fields
  return {
    ...limits,
    wire,
    inputs: [...new Set(inputs)],
    fuses,
    fetches,
    maxParts: fuses ? (fields.maxParts ?? DEFAULT_PARTS) : 1,
    formats: formats ?? inputs.flatMap((kind) => (kind === 'text' ? [] : COMMON_FORMATS[kind])),
  }
}

/** Reports what can never work: formats of kinds that are not taken, and a wire that lacks the input type it needs. */
export function reportContents(
  { contents }: EmbeddingCapabilities,
  { inputType }: EmbeddingFacts,
  path: Path,
  report: Report,
): void {
  if (contents === undefined) return
  const { wire, inputs, formats } = contents
  const stray = formats.filter((format) => !inputs.includes(MEDIA_FORMATS[format]))
  if (stray.length > 0)
    report.problem(
      [...path, 'capabilities', 'contents', 'formats'],
      `names ${stray.join(', ')}, and inputs has no ${[...new Set(stray.map((format) => MEDIA_FORMATS[format]))].join(' and no ')}: remove them, or add the kind`,
    )
  if (TYPED_WIRES.has(wire) && inputType.rule !== 'field')
    report.problem(
      [...path, 'capabilities', 'contents', 'wire'],
      `${wire} makes no vector without an input type: write embedding: { inputType: { field, values, default } }`,
    )
}

type InputPrices = Readonly<Partial<Record<keyof typeof INPUT_UNITS, number | string | undefined>>>

const MILLION = 1_000_000n

export function partRatesOf(prices: InputPrices): PartRates {
  const rates: Partial<Record<PartKind, PartRate>> = {}
  for (const [name, { kind, by, units }] of Object.entries(INPUT_UNITS)) {
    const usd = prices[name as keyof typeof INPUT_UNITS]
    if (usd !== undefined) rates[kind] = { by, nanoUsdPerMillion: (nanoUsdIn(usd) * MILLION) / units }
  }
  return rates
}
