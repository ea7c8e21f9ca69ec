/** What one call to one deployment can carry: how many inputs, in which form, and about how many tokens. */
import { callGroupOf, split, type Caps, type Weight } from '#core/embedding/batches.ts'
import { inputCount, slice, type Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import type { ContentWireName } from '#core/catalog/content-capabilities.ts'
import { mediaIn, type Content } from '#core/content/content.ts'
import { Fault } from '#core/fault/fault.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import { decodeTokens, withPrefix } from './inputs.ts'
import { askerOf, FRAME_TOKENS, mostTokens, roughTokens } from './tokens.ts'

/** Estimated tokens of a call for these inputs, at most what one call can carry. */
export function tokensOfCall(
  { outside, offers, model }: Pick<AdmittedRequest, 'outside' | 'offers' | 'model'>,
  input: Input,
): number {
  return Math.min(roughTokens(inOneCall(input, offers), model, outside.bytesOf), tokenCap(input, offers))
}

/** The most inputs that one call can carry. The others ask for their own turns. */
function inOneCall(input: Input, offers: readonly Offer[]): Input {
  const count = inputCount(input)
  if (count === 1) return input
  const most = Math.max(...offers.map(({ deployment }) => deployment.capabilities.maxInputs))
  return count <= most ? input : slice(input, 0, most)
}

/** Splitting counts each byte as a token; an estimate counts four bytes as one. */
function tokenCap({ kind }: Input, offers: readonly Offer[]): number {
  let most = 1
  for (const { deployment } of offers) {
    const { maxTokens = Infinity, maxBytes = Infinity } = deployment.capabilities
    most = Math.max(most, kind === 'tokens' ? maxTokens : Math.ceil(Math.min(maxTokens, maxBytes) / 4))
  }
  return most
}

/** Whether this deployment takes the inputs unchanged. */
export function isReady(offer: Offer): boolean {
  return !offer.decodesTokens && offer.prefix === ''
}

/** The inputs as this deployment takes them. */
export async function readyFor(
  request: AdmittedRequest,
  input: Input,
  slots: readonly number[],
  offer: Offer,
): Promise<Input> {
  const placeOf = (index: number): number => request.placeOf(slots[index] ?? index)
  const texts = offer.decodesTokens ? await decodeTokens(request, input, placeOf) : input
  return offer.prefix === '' ? texts : withPrefix(texts, offer.prefix)
}

/** The calls that the inputs need at this deployment: for each, its first input and the one after its last. */
export function runsOf(input: Input, offer: Offer, request: Splitting): Runs {
  return splittable(roughRuns(input, offer, request), input, offer, request)
}

/**
 * The same by counted tokens, where bytes say that a call would exceed its token cap and the upstream counts as Torana does: an
 * English text has four to six bytes per token. Immediate where nothing has to be counted.
 */
export function countedRunsOf(input: Input, offer: Offer, request: Counting): Runs | Promise<Runs> {
  const runs = roughRuns(input, offer, request)
  if (input.kind !== 'texts' || runs.length === 1 || !isForTokens(runs, input, offer, request))
    return splittable(runs, input, offer, request)
  return countTexts(request, input.texts, offer).then((counts) =>
    splittable(roughRuns(input, offer, request, counts), input, offer, request),
  )
}

type Runs = (readonly [number, number])[]
type Counting = Splitting & Pick<AdmittedRequest, 'project' | 'deadlineMs' | 'tokenCounts'>
type Splitting = Pick<AdmittedRequest, 'outside' | 'model' | 'wholeBecauseOf'>

/** True where the cap of tokens costs further calls, and Torana can count the tokens. */
function isForTokens(
  runs: Runs,
  input: Input,
  { deployment }: Offer,
  { outside, model }: Splitting,
): boolean {
  const { capabilities } = deployment
  const { tokenizer, tokenCounts } = model.facts
  if (input.kind !== 'texts' || capabilities.maxTokens === undefined) return false
  if (tokenizer === 'none' || tokenCounts !== 'exact') return false
  return runs.length > splitTexts(input, { ...capabilities, maxTokens: undefined }, outside.bytesOf).length
}

/** Tokens by text. Bytes stay in place of counts that could not be made in time. */
async function countTexts(
  request: Counting,
  texts: readonly string[],
  { deployment }: Offer,
): Promise<ReadonlyMap<string, number>> {
  const { outside, model } = request
  const tokenCounts = (request.tokenCounts ??= new Map())
  const { tokenizer } = model.facts
  const missing = texts.filter((text) => !tokenCounts.has(text))
  if (tokenizer === 'none' || missing.length === 0) return tokenCounts
  const asker = { ...askerOf(request), most: deployment.capabilities.maxTokens ?? Infinity }
  const counts = await outside.tokens.count(missing, tokenizer, asker).catch(() => [])
  for (const [index, { tokens }] of counts.entries()) tokenCounts.set(missing[index], tokens)
  return tokenCounts
}

function roughRuns(
  input: Input,
  offer: Offer,
  { outside, model }: Splitting,
  counts?: ReadonlyMap<string, number>,
): Runs {
  const { capabilities } = offer.deployment
  const count = inputCount(input)
  if (count === 1) return [[0, 1]]
  const { contents } = capabilities
  const bounded =
    capabilities.maxTokens !== undefined || capabilities.maxBytes !== undefined || input.kind === 'contents'
  if (count <= capabilities.maxInputs && !bounded) return [[0, count]]
  return input.kind === 'contents'
    ? split(contentWeights(input.contents, contents?.wire, model, outside.bytesOf), {
        ...capabilities,
        maxBytes: contents?.maxCallBytes,
        maxImages: contents?.maxImages,
      })
    : splitTexts(input, capabilities, outside.bytesOf, counts)
}

function splitTexts(
  input: Exclude<Input, { readonly kind: 'contents' }>,
  { maxBytes, ...caps }: Caps,
  bytesOf: (text: string) => number,
  counts?: ReadonlyMap<string, number>,
): Runs {
  return split(weightsOf(input, maxBytes !== undefined, bytesOf, counts), {
    ...caps,
    // Space for the rest of the body: model name, options and braces.
    maxBytes: maxBytes === undefined ? undefined : maxBytes - 4096,
  })
}

/** Throws where more than one call is needed and a field forbids that. */
function splittable(runs: Runs, input: Input, offer: Offer, { wholeBecauseOf }: Splitting): Runs {
  if (runs.length > 1 && wholeBecauseOf !== undefined) {
    throw new Fault(
      'request_not_splittable',
      `${inputCount(input)} inputs need ${runs.length} calls to ${offer.deployment.id}, and Torana does not split a request with the unknown field '${wholeBecauseOf}'. Send fewer inputs, or remove the field.`,
      { param: wholeBecauseOf },
    )
  }
  return runs
}

/** Uses bytes in place of uncounted tokens: a text never has more tokens than bytes, so no call exceeds its cap. */
function weightsOf(
  input: Exclude<Input, { readonly kind: 'contents' }>,
  needsBytes: boolean,
  bytesOf: (text: string) => number,
  counts?: ReadonlyMap<string, number>,
): Weight[] {
  if (input.kind === 'tokens') {
    return input.tokens.map((tokens) => ({ tokens: tokens.length, bytes: tokens.length * 11 + 3 }))
  }
  return input.texts.map((text) => ({
    tokens: Math.min(bytesOf(text), FRAME_TOKENS + (counts?.get(text) ?? Infinity)),
    // Includes the comma.
    bytes: needsBytes ? bytesOf(JSON.stringify(text)) + 1 : 0,
  }))
}

/** Bytes are those of the media, which the deployment's limits are about. */
function contentWeights(
  contents: readonly Content[],
  wire: ContentWireName | undefined,
  model: AdmittedRequest['model'],
  bytesOf: (text: string) => number,
): Weight[] {
  return contents.map((content, index) => {
    const media = mediaIn(content)
    return {
      tokens: mostTokens({ kind: 'contents', contents: [content] }, model, bytesOf),
      bytes: media.reduce((sum, { size }) => sum + size, 0),
      images: content.parts.filter(({ kind }) => kind === 'image').length,
      group: wire && callGroupOf(wire, content, index),
    }
  })
}
