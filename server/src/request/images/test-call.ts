/** The smallest picture that one deployment can make, for a person who wants to see whether it works. */
import type { ImageDeployment, ImageModel, ImageSizes, PixelSize } from '#core/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { maxRequestCost } from '#core/image/expected-cost.ts'
import { readImageRequest, type ImageRequest } from '#core/image/request.ts'
import { nanoUsdOf, type Cost } from '#core/price.ts'
import { RequestTrace } from '#core/request-trace.ts'
import { SYSTEM_KEY } from '../access/system-key.ts'
import { offersFor } from './admit.ts'
import { NO_FILES } from './files.ts'
import { generateImages, type ImageDependencies } from './image.ts'

const PROMPT = 'A plain grey square.'

export function mostOfPicture(
  model: ImageModel,
  deployment: ImageDeployment,
  outside: ImageDependencies,
): Cost {
  const only = onlyWith(model, deployment)
  const request = smallest(only, deployment)
  const [offer] = offersFor(request, only, SYSTEM_KEY, 'drop', outside).offers
  if (offer === undefined)
    throw new Fault('internal_error', `${deployment.id} makes no offer for a plain picture.`)
  return maxRequestCost(request, only, offer)
}

/** Makes one picture. It is kept and stands in the request log like any other. Rejects with a fault, after it was noted. */
export async function testPicture(
  model: ImageModel,
  deployment: ImageDeployment,
  requestId: string,
  outside: ImageDependencies,
): Promise<Cost> {
  const { clock, observer } = outside
  const only = onlyWith(model, deployment)
  const trace = new RequestTrace(clock.monotonicMs())
  trace.askedModel = model.id
  const about = {
    requestId,
    route: 'images',
    project: SYSTEM_KEY.project,
    key: SYSTEM_KEY.name,
    keyId: SYSTEM_KEY.id,
    model: model.id,
    deployment: deployment.id,
    inputs: 1,
    trace,
  }
  const durationMs = (): number => clock.monotonicMs() - trace.startedMs
  try {
    const made = await generateImages(
      smallest(only, deployment),
      {
        requestId,
        key: SYSTEM_KEY,
        unsupported: 'drop',
        idempotencyKey: undefined,
        isRetry: false,
        whenGone: () => {},
        dryRun: false,
        respondAsync: false,
        trace,
        onPreview: () => {},
        files: NO_FILES,
      },
      {
        ...outside,
        catalog: () => ({ models: new Map([[model.id, only]]), retired: new Map(), projects: [] }),
      },
    )
    const costUsd = made.kind === 'made' ? made.result.costUsd : 'unpriced'
    const cost: Cost =
      costUsd === 'unpriced' ? { kind: 'unpriced' } : { kind: 'known', nanoUsd: nanoUsdOf(costUsd) }
    trace.images = 1
    trace.isUnpriced = cost.kind === 'unpriced'
    observer.requestEnded({
      ...about,
      status: 200,
      attempts: 1,
      amountNanoUsd: cost.kind === 'known' ? cost.nanoUsd : undefined,
      durationMs: durationMs(),
    })
    return cost
  } catch (error) {
    const fault = error instanceof Fault ? error : undefined
    observer.requestEnded({
      ...about,
      status: fault?.entry.status ?? 500,
      fault: fault?.code ?? 'internal_error',
      attempts: 1,
      durationMs: durationMs(),
    })
    throw error
  }
}

function onlyWith(model: ImageModel, deployment: ImageDeployment): ImageModel {
  return { ...model, deployments: [deployment] }
}

function smallest(model: ImageModel, { capabilities }: ImageDeployment): ImageRequest {
  const size = smallestSize(capabilities.sizes)
  return readImageRequest(
    {
      model: model.id,
      prompt: PROMPT,
      n: 1,
      ...(size && { size: `${size.width}x${size.height}` }),
      ...(capabilities.qualities.includes('low') && { quality: 'low' }),
    },
    { maxImages: 1 },
  )
}

/** Undefined: what it makes when nobody asks. */
function smallestSize(sizes: ImageSizes): PixelSize | undefined {
  if (sizes.kind !== 'list') return undefined
  const pixels = ({ width, height }: PixelSize): number => width * height
  return sizes.values.reduce<PixelSize | undefined>(
    (least, one) => (least === undefined || pixels(one) < pixels(least) ? one : least),
    undefined,
  )
}
