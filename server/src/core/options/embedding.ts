/** The options of an embedding model, deployment by deployment. Nothing is guessed: each cell is a negotiation or a fact. */
import type { Deployment, EmbeddingModel, NativeDimensions } from '../catalog/catalog.ts'
import type { PartKind } from '../content/content.ts'
import { negotiate } from '../embedding/negotiate.ts'
import type { EmbeddingRequest } from '../embedding/request.ts'
import { priceTextOf } from '../money/price-text.ts'
import { carriesUnknownFields } from '../request/offers.ts'
import {
  abilitiesOf,
  emulated,
  figure,
  NATIVE,
  negotiated,
  REFUSED,
  type Abilities,
  type OptionCell,
  type OptionGroup,
  type OptionRow,
} from './option.ts'

type CellOf = (deployment: Deployment) => OptionCell

export function embeddingOptions(model: EmbeddingModel): readonly OptionRow[] {
  const row = (group: OptionGroup, option: string, cellOf: CellOf): OptionRow => ({
    group,
    option,
    byDeployment: new Map(model.deployments.map((deployment) => [deployment.id, cellOf(deployment)])),
  })
  return [
    row('answers', 'base64', (one) => encodingCell(model, one, 'base64')),
    row('answers', 'numbers', (one) => encodingCell(model, one, 'float')),
    row('answers', 'dimensions', (one) => dimensionsCell(model, one)),
    row('answers', 'input_type', (one) => inputTypeCell(model, one)),
    row('takes', 'texts in a call', ({ capabilities }) => figure(String(capabilities.maxInputs))),
    row('takes', 'tokens a text', () => figure(String(model.facts.maxInputTokens ?? ''))),
    row('takes', 'token ids', (one) =>
      asked(model, one, { input: { kind: 'tokens', tokens: [[1]] } }, 'input', 'turned into text'),
    ),
    ...contentRows(model, row),
    row('takes', 'unknown fields', (one) => unknownFieldsCell(model, one)),
    row('money', 'price', ({ price }) => {
      const [text] = priceTextOf(price)
      return figure(text?.unit === 'million tokens' ? text.amount : (text?.unit ?? ''))
    }),
    row('money', 'counts tokens', ({ capabilities }) =>
      capabilities.countsTokens ? NATIVE : emulated('estimated'),
    ),
  ]
}

/** None for a model that takes texts alone. */
function contentRows(
  { deployments }: EmbeddingModel,
  row: (group: OptionGroup, option: string, cellOf: CellOf) => OptionRow,
): readonly OptionRow[] {
  if (!deployments.some(({ capabilities }) => capabilities.contents !== undefined)) return []
  const takes =
    (kind: PartKind): CellOf =>
    ({ capabilities: { contents } }) =>
      contents?.inputs.includes(kind) === true ? NATIVE : REFUSED
  return [
    row('takes', 'images', takes('image')),
    row('takes', 'audio', takes('audio')),
    row('takes', 'video', takes('video')),
    row('takes', 'PDF', takes('file')),
    row('takes', 'several parts', ({ capabilities: { contents } }) =>
      contents?.fuses === true ? figure(String(contents.maxParts)) : REFUSED,
    ),
  ]
}

/** `maxInputs`: the maximum of one request to the gateway. */
export function embeddingAbilities(model: EmbeddingModel, maxInputs: number): Abilities {
  const rows = new Map(embeddingOptions(model).map((row) => [row.option, row]))
  const abilities = abilitiesOf({
    base64: rows.get('base64'),
    dimensions: rows.get('dimensions'),
    token_ids: rows.get('token ids'),
    input_type: rows.get('input_type'),
  })
  const isSplit = model.deployments.some(({ capabilities }) => capabilities.maxInputs < maxInputs)
  return isSplit ? { ...abilities, split: 'emulated' } : abilities
}

/** The narrower widths that a caller may ask for, at one deployment at least. */
export function narrowerWidths({ facts, deployments }: EmbeddingModel): 'any' | 'none' | readonly number[] {
  if (facts.matryoshka) return 'any'
  const natives = deployments.map(({ capabilities }) => capabilities.dimensions)
  if (natives.some(({ kind }) => kind === 'range')) return 'any'
  const listed = natives.flatMap((native) => (native.kind === 'list' ? native.values : []))
  const narrower = [...new Set(listed)].filter((width) => width !== facts.dimensions).sort((a, b) => a - b)
  return narrower.length > 0 ? narrower : 'none'
}

function encodingCell(
  model: EmbeddingModel,
  deployment: Deployment,
  encoding: 'float' | 'base64',
): OptionCell {
  const instead = encoding === 'base64' ? 'from numbers' : 'from base64'
  return asked(model, deployment, { encoding }, 'encoding_format', instead)
}

function dimensionsCell(model: EmbeddingModel, deployment: Deployment): OptionCell {
  const native = deployment.capabilities.dimensions
  const dimensions = someNarrower(native, model.facts.dimensions)
  if (dimensions === undefined) return REFUSED
  return asked(model, deployment, { dimensions }, 'dimensions', 'cut and scaled')
}

/** A width that the upstream supports natively, if there is one. */
function someNarrower(native: NativeDimensions, full: number): number | undefined {
  const half = Math.max(1, Math.floor(full / 2))
  if (native.kind === 'list') return native.values.find((width) => width !== full) ?? half
  if (native.kind === 'range') return Math.max(native.min, Math.min(native.max, half))
  return full > 1 ? half : undefined
}

function inputTypeCell(model: EmbeddingModel, deployment: Deployment): OptionCell {
  const { inputType: rule } = model.facts
  if (rule.rule === 'none') return REFUSED
  const [inputType] = Object.keys(
    rule.rule === 'field' ? rule.values : rule.prefixes,
  ) as EmbeddingRequest['inputType'][]
  return asked(model, deployment, { inputType }, 'input_type', 'prefix added')
}

function unknownFieldsCell({ unknownFields }: EmbeddingModel, deployment: Deployment): OptionCell {
  if (!carriesUnknownFields(deployment)) return REFUSED
  if (unknownFields === undefined) return figure('passed on')
  return unknownFields.length === 0 ? REFUSED : figure(unknownFields.join(', '))
}

const PLAIN: EmbeddingRequest = {
  model: '',
  input: { kind: 'texts', texts: ['a'] },
  dimensions: undefined,
  encoding: 'float',
  inputType: undefined,
  user: undefined,
  extraFields: {},
}

function asked(
  model: EmbeddingModel,
  deployment: Deployment,
  options: Partial<EmbeddingRequest>,
  option: string,
  instead: string,
): OptionCell {
  const alone = { ...model, deployments: [deployment] }
  return negotiated(() => negotiate({ ...PLAIN, ...options }, alone, 'refuse'), option, instead)
}
