/** The handlers of the three kinds of requests that callers pay for. The console's playground uses them too. */
import type { RequestHandler } from './caller/journey.ts'
import { embeddingsHandler, type EmbeddingsDependencies } from './embeddings/embeddings.ts'
import { imagesHandler, type ImagesDependencies } from './images/images.ts'
import { editReader, generationReader, type ReadingOutside } from './images/read-request.ts'

export interface GatewayHandlers {
  readonly embeddings: RequestHandler
  readonly generations: RequestHandler
  readonly edits: RequestHandler
}

export function gatewayHandlers(
  dependencies: EmbeddingsDependencies & ImagesDependencies & ReadingOutside,
): GatewayHandlers {
  return {
    embeddings: embeddingsHandler(dependencies),
    generations: imagesHandler('images', generationReader(dependencies), dependencies),
    edits: imagesHandler('image-edits', editReader(dependencies), dependencies),
  }
}
