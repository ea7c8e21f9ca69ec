/** Lines of embeddings, as their route reads them. */
import type { BatchLine, LineRun, RunnableLine, UnreadLine } from '#core/batch/line.ts'
import { idOf, type Catalog } from '#core/catalog/catalog.ts'
import { inputSize } from '#core/embedding/input.ts'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import type { Fault } from '#core/fault/fault.ts'
import { withBatchTags } from '#core/request/labels.ts'
import type { Batch } from '#ports/batches.ts'
import { limiterTokens } from '../embeddings/tokens.ts'
import type { LabelShare } from '../money/label-shares.ts'
import { faultOf } from './run-lines.ts'

/** A line as its route reads it. */
export interface EmbeddingLine {
  readonly customId: string
  /** Undefined when the line asks for nothing that can run; the fault says why. */
  readonly request: EmbeddingRequest | undefined
  readonly fault: Fault | undefined
  /** The bytes that its request reads. Their holder discards them. */
  readonly media: AsyncDisposable | undefined
}

/** Media that Torana fetches for lines, until their holder discards them. */
export interface FetchedMedia extends AsyncDisposable {
  /** The request with media in place of addresses, where Torana fetches them. Rejects with a fault. */
  fetch(request: EmbeddingRequest): Promise<EmbeddingRequest>
}

export interface LineOutside {
  /** The caller takes ownership of the media. */
  readonly readLine: (line: Uint8Array, project: string) => Promise<EmbeddingLine>
  readonly fetchedMedia: (project: string) => FetchedMedia
}

/** A line without tags takes those of its batch. `held` discards the media of the line. */
export async function readTagged(
  { number, firstByte, content }: UnreadLine,
  { project, tags }: Pick<Batch, 'project' | 'tags'>,
  held: AsyncDisposableStack,
  { readLine }: Pick<LineOutside, 'readLine'>,
): Promise<BatchLine> {
  const { customId, request, fault, media } = await readLine(content, project)
  held.use(media)
  const line = { number, firstByte, customId, request, fault }
  if (request === undefined || tags === undefined) return line
  try {
    return { ...line, request: { ...request, tags: withBatchTags(request.tags, tags) } }
  } catch (error) {
    return { ...line, request: undefined, fault: faultOf(error) }
  }
}

/** Lines of one request may have different users and tags. */
export function sharesOf(
  [first, ...others]: LineRun,
  { catalog, bytesOf }: { readonly catalog: () => Catalog; readonly bytesOf: (text: string) => number },
): [LabelShare, ...LabelShare[]] {
  const { model: name } = first.request
  const model = catalog().models.get(idOf(catalog(), name) ?? name)
  const share = ({ request: { user, tags, input } }: RunnableLine): LabelShare => ({
    user,
    tags,
    weight:
      input.kind === 'contents' && model?.kind === 'embedding'
        ? limiterTokens(input, model, bytesOf)
        : inputSize(input),
  })
  return [share(first), ...others.map(share)]
}
