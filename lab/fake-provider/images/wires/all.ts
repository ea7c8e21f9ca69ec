import type { ImageWire } from '../image-wire.ts'
import { azureImages } from './azure.ts'
import { bedrockImages } from './bedrock.ts'
import { blackForestLabs } from './black-forest-labs.ts'
import { fal, falQueue } from './fal.ts'
import { fireworksImages } from './fireworks.ts'
import { googleImages, vertexImages } from './google.ts'
import { luma } from './luma.ts'
import { openaiImages } from './openai.ts'
import { replicate } from './replicate.ts'
import { together } from './together.ts'
import { xai } from './xai.ts'

export const imageWires: readonly ImageWire[] = [
  openaiImages,
  azureImages,
  googleImages,
  vertexImages,
  bedrockImages,
  blackForestLabs,
  replicate,
  fal,
  falQueue,
  luma,
  fireworksImages,
  together,
  xai,
]
