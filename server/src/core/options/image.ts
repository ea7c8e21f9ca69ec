/** The options of an image model, deployment by deployment, as the negotiation decides them. */
import type { ImageDeployment, ImageModel, ImageSizes } from '../catalog/catalog.ts'
import type { ImageEdit } from '../image/given.ts'
import { negotiateImages } from '../image/negotiate.ts'
import type { ImageRequest } from '../image/request.ts'
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

type CellOf = (deployment: ImageDeployment) => OptionCell

export function imageOptions(model: ImageModel): readonly OptionRow[] {
  const row = (group: OptionGroup, option: string, cellOf: CellOf): OptionRow => ({
    group,
    option,
    byDeployment: new Map(model.deployments.map((deployment) => [deployment.id, cellOf(deployment)])),
  })
  const ask = (options: Partial<ImageRequest>, param: string, instead: string) => (one: ImageDeployment) =>
    asked(model, one, options, param, instead)
  return [
    row('answers', 'sizes', ({ capabilities }) => figure(sizesText(capabilities.sizes))),
    row('answers', 'quality', ({ capabilities }) => words(capabilities.qualities)),
    row('answers', 'transparent', ask({ background: 'transparent', format: 'png' }, 'background', '')),
    ...(['png', 'jpeg', 'webp'] as const).map((format) =>
      row('answers', format, ask({ format }, 'output_format', 'converted')),
    ),
    row('answers', 'b64_json', ask({ form: 'b64_json' }, 'response_format', 'fetched')),
    row('answers', 'url', ask({ form: 'url' }, 'response_format', 'kept and linked')),
    row('answers', 'several at once', severalCell(model)),
    row('answers', 'stream', ask({ stream: true }, 'stream', 'one event')),
    row('answers', 'previews', ({ capabilities: { stream, maxPartialImages } }) =>
      stream && maxPartialImages > 0 ? figure(String(maxPartialImages)) : emulated('none come'),
    ),
    row('takes', 'given pictures', ({ capabilities: { edits } }) =>
      edits === undefined ? REFUSED : figure(String(edits.maxInputs)),
    ),
    row('takes', 'mask', (one) => editCell(model, one, 'mask')),
    row('takes', 'markup', (one) => editCell(model, one, 'markup')),
    row('takes', 'input_fidelity', ({ capabilities: { edits } }) => words(edits?.fidelities ?? [])),
    row('takes', 'moderation', ({ capabilities }) => words(capabilities.moderations)),
    row('takes', 'complexity', ({ capabilities }) => words(capabilities.complexities ?? [])),
    row('takes', 'unknown fields', (one) => unknownFieldsCell(model, one)),
    row('money', 'price', ({ price }) => figure(priceWords(price))),
  ]
}

export function imageAbilities(model: ImageModel): Abilities {
  const rows = new Map(imageOptions(model).map((row) => [row.option, row]))
  const edits: OptionRow = {
    group: 'takes',
    option: 'edits',
    byDeployment: new Map(
      model.deployments.map(({ id, capabilities }) => [id, capabilities.edits ? NATIVE : REFUSED]),
    ),
  }
  const previews: OptionRow = {
    group: 'answers',
    option: 'previews',
    byDeployment: new Map(
      model.deployments.map(({ id, capabilities: { stream, maxPartialImages } }) => [
        id,
        stream && maxPartialImages > 0 ? NATIVE : REFUSED,
      ]),
    ),
  }
  return abilitiesOf({
    edits,
    mask: rows.get('mask'),
    markup: rows.get('markup'),
    previews,
    transparent: rows.get('transparent'),
  })
}

function words(values: readonly string[]): OptionCell {
  return values.length === 0 ? REFUSED : figure(values.join(', '))
}

function severalCell(model: ImageModel): CellOf {
  return (deployment) => {
    const images = deployment.capabilities.maxImages + 1
    const cell = asked(model, deployment, { images }, 'n', 'several calls')
    return deployment.capabilities.maxImages > 1 ? figure(String(deployment.capabilities.maxImages)) : cell
  }
}

function unknownFieldsCell({ unknownFields }: ImageModel, deployment: ImageDeployment): OptionCell {
  if (!carriesUnknownFields(deployment)) return REFUSED
  if (unknownFields === undefined) return figure('passed on')
  return unknownFields.length === 0 ? REFUSED : figure(unknownFields.join(', '))
}

function priceWords(price: ImageDeployment['price']): string {
  const texts = priceTextOf(price)
  const [first] = texts
  if (first === undefined || first.amount === '' || first.unit === 'free') return first?.unit ?? ''
  return texts.map(({ amount }) => amount).join(' in, ') + (texts.length > 1 ? ' out' : '')
}

function sizesText(sizes: ImageSizes): string {
  switch (sizes.kind) {
    case 'any':
      return 'any'
    case 'free':
      return `to ${(sizes.maxPixels / 1_000_000).toFixed(1)} MP`
    case 'list':
      return sizes.values.length === 1
        ? sizes.values.map(({ width, height }) => `${width} × ${height}`).join('')
        : `${sizes.values.length} sizes`
  }
}

const PLAIN: ImageRequest = {
  model: '',
  prompt: 'a',
  images: 1,
  size: undefined,
  quality: undefined,
  background: undefined,
  moderation: undefined,
  format: undefined,
  compression: undefined,
  form: undefined,
  stream: false,
  partialImages: 0,
  user: undefined,
  safetyIdentifier: undefined,
  extraFields: {},
  edit: undefined,
}

function asked(
  model: ImageModel,
  deployment: ImageDeployment,
  options: Partial<ImageRequest>,
  param: string,
  instead: string,
): OptionCell {
  const alone = { ...model, deployments: [deployment] }
  return negotiated(() => negotiateImages({ ...PLAIN, ...options }, alone, 'refuse'), param, instead)
}

/** A small file in a format that the deployment reads, so that only the option can be refused. */
function editCell(model: ImageModel, deployment: ImageDeployment, option: 'mask' | 'markup'): OptionCell {
  const { edits } = deployment.capabilities
  if (edits === undefined) return REFUSED
  const file = {
    kind: 'file',
    sha256: '',
    bytes: 1,
    format: edits.inputFormats[0] ?? 'png',
    width: 64,
    height: 64,
    hasAlpha: true,
    isTurned: false,
  } as const
  const edit: ImageEdit = {
    pictures: [file],
    mask: undefined,
    markup: undefined,
    fidelity: undefined,
    [option]: file,
  }
  return asked(model, deployment, { edit }, option, 'redrawn')
}
