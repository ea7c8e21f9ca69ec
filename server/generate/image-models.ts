/** The page of built-in image models, and of what each of their providers can do. */
import { builtInFacts } from '#config/build/facts.ts'
import type { Facts, ModelFacts, ProviderFacts } from '#config/build/facts.ts'
import { editsText, imagePriceText, sizesText } from '#config/schema/image-words.ts'
import { resolveImageCapabilities, resolveImagePrice } from '#config/build/resolve.ts'

const HEAD = [
  'model',
  'provider',
  'sizes',
  'quality',
  'background',
  'formats',
  'n per call',
  'edits',
  'stream',
  'price in dollars',
  'ends',
]

export function imageModelsMarkdown(facts: Facts = builtInFacts()): string {
  const providers = [...facts.values()].filter(({ provider }) => provider !== 'demo')
  const rows = providers.flatMap((provider) =>
    Object.entries(provider.models).flatMap(([id, model]) =>
      model.kind === 'image' ? [{ id, cells: cellsOf(id, model, provider) }] : [],
    ),
  )
  // Groups the rows of a model that several providers serve.
  const ids = [...new Set(rows.map(({ id }) => id))]
  const grouped = ids.flatMap((id) => rows.filter((row) => row.id === id))
  return `${[
    '<!-- Made by `npm run generate` from server/catalog; change it there. -->',
    '# Image models',
    '',
    `Torana knows the options, limits and prices of ${ids.length} image models of ${new Set(rows.map(({ cells }) => cells[1])).size} providers. It serves any other model too: write`,
    '`kind: image` and what each deployment can do ([configuration.md](configuration.md)).',
    '',
    'The columns list what the upstream does itself. Torana adds:',
    '',
    '- more images than *n per call*, by several calls,',
    '- conversion between png, jpeg and webp,',
    '- `b64_json` and `url` for every model,',
    '- streams with a single event, for models without streams.',
    '',
    'Torana refuses a size, quality or background that is not listed, and the error says what works. `GET /v1/models` lists every size.',
    '',
    '*edits* is the number of input images of one request, and whether the model takes a mask or a markup. If a model cannot read an',
    'input image, a mask or a markup, Torana refuses the request. Masks are always transparent where the image should change. Torana',
    'translates them for upstreams that read a colour. If the colour is not known, Torana takes no mask until you set',
    '`capabilities.edits.mask`.',
    '',
    'Prices are list prices, many of them from community lists, each with its source and day in the file of its provider. Check them',
    'against your bill. `unpriced` does not mean free ([prices.md](prices.md)). The word `unverified` in',
    '[`server/catalog`](../server/catalog/README.md) marks facts that could not be checked.',
    '',
    '*ends* is the day on which the provider shuts the model down, as announced, and the successor that it names. Torana warns 90 days before',
    'it: see [retiring models](operating.md#retiring-models).',
    '',
    line(HEAD),
    `|${' --- |'.repeat(HEAD.length)}`,
    ...grouped.map(({ cells }) => line(cells)),
    '',
    'The demo model `demo-image` draws images inside the process, for free.',
  ].join('\n')}\n`
}

function cellsOf(
  id: string,
  model: Extract<ModelFacts, { kind: 'image' }>,
  provider: ProviderFacts,
): string[] {
  const capabilities = resolveImageCapabilities([provider.imageCapabilities, model.capabilities])
  const { qualities, backgrounds, formats, maxImages, stream, maxPartialImages } = capabilities
  return [
    [id, ...model.aliases].map((name) => `\`${name}\``).join(' = '),
    provider.provider,
    sizesText(capabilities.sizes),
    qualities.join(' ') || '–',
    backgrounds.join(' ') || '–',
    formats.join(' '),
    String(maxImages),
    editsText(capabilities.edits),
    stream ? `yes, ${maxPartialImages} previews` : '–',
    imagePriceText(resolveImagePrice([model.price])),
    model.endsOn === undefined
      ? '–'
      : [model.endsOn, ...(model.successor === undefined ? [] : [`\`${model.successor}\``])].join(', then '),
  ]
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
