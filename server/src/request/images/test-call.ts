/** The smallest image that one deployment can make, for a person who tests the deployment. */
import type { ImageDeployment, ImageModel, ImageSizes, PixelSize } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { maxRequestCost } from '#core/image/expected-cost.ts'
import { readImageRequest, type ImageRequest } from '#core/image/request.ts'
import { nanoUsdOf, type Cost } from '#core/money/price.ts'
import { SYSTEM_KEY } from '../access/system-key.ts'
import { recordedTest } from '../recorded-test.ts'
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

/** Makes one image. It is stored and appears in the request log like any other. Rejects with a fault after recording it. */
export async function testPicture(
  model: ImageModel,
  deployment: ImageDeployment,
  requestId: string,
  outside: ImageDependencies,
): Promise<Cost> {
  const only = onlyWith(model, deployment)
  return recordedTest({ requestId, route: 'images', model, deployment }, outside, async (trace) => {
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
    trace.images = 1
    return {
      cost: costUsd === 'unpriced' ? { kind: 'unpriced' } : { kind: 'known', nanoUsd: nanoUsdOf(costUsd) },
    }
  })
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

/** Undefined means the deployment's default size. */
function smallestSize(sizes: ImageSizes): PixelSize | undefined {
  if (sizes.kind !== 'list') return undefined
  const pixels = ({ width, height }: PixelSize): number => width * height
  return sizes.values.reduce<PixelSize | undefined>(
    (least, one) => (least === undefined || pixels(one) < pixels(least) ? one : least),
    undefined,
  )
}
