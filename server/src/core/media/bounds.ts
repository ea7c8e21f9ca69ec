/** The limits of media that their headers tell. Those of a model are checked with its other capabilities. */
import type { Limits } from '../settings.ts'
import { sizeWords } from '../image/scan.ts'
import type { ScannedMedia } from './media-scan.ts'

export type MediaLimits = Pick<
  Limits,
  'contentPartBytes' | 'maxContentSeconds' | 'maxContentPages' | 'maxPicturePixels' | 'maxPictureEdge'
>

/** The reason why media are too large. Undefined where they are not, or where nothing is known. */
export function excessOf(
  { width, height, seconds, pages }: ScannedMedia,
  limits: MediaLimits,
): string | undefined {
  const { maxContentSeconds, maxContentPages } = limits
  if (seconds !== undefined && seconds > maxContentSeconds)
    return `takes ${Math.ceil(seconds)} seconds; at most ${maxContentSeconds} are allowed`
  if (pages !== undefined && pages > maxContentPages)
    return `has ${pages} pages; at most ${maxContentPages} are allowed`
  return width === undefined || height === undefined ? undefined : sizeWords(width, height, limits)
}
