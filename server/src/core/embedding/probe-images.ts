/**
 * The images of every probe of a deployment that takes images. They never change: the stored references were made from these
 * very bytes, so another byte would look like another image encoder, for every model at once. A photograph as JPEG, a page of text
 * and a chart as PNG differ most between two encoders, croppings or scalings. `lab/probe-images.ts` drew them.
 */
import type { Deployment } from '../catalog/catalog.ts'
import type { Media } from '../content/content.ts'
import { takesMedia } from './content-fit.ts'

export interface ProbeImage extends Omit<Media, 'open'> {
  /** Of its file, in `worker/spaces/probe-images`. */
  readonly name: string
}

const SIDE = { width: 224, height: 224 } as const

export const PROBE_IMAGES: readonly ProbeImage[] = [
  {
    name: 'scene.jpg',
    kind: 'image',
    format: 'jpeg',
    size: 8388,
    sha256: '4195ac6fa51fd3ed914d135d371429995ce8c1d3c952d49af2293ca6ed05aeaf',
    ...SIDE,
  },
  {
    name: 'page.png',
    kind: 'image',
    format: 'png',
    size: 11_626,
    sha256: '2678d14161fda97eb9d9a1ff1ccf8db5d5765e91b09ba602802e777947b48918',
    ...SIDE,
  },
  {
    name: 'chart.png',
    kind: 'image',
    format: 'png',
    size: 3328,
    sha256: '05b06029336222dc2b947fee9c83a1ca61b17d1c0bc2b0a633c94b7b43811609',
    ...SIDE,
  },
]

/** Whether probes of a deployment have images: it takes all of them. */
export function takesProbeImages(deployment: Deployment): boolean {
  return PROBE_IMAGES.every((image) => takesMedia(deployment, image))
}
