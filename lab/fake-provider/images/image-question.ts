import type { Fields } from '../wire.ts'
import type { Format } from './encode.ts'
import type { Given } from './given.ts'

/** What a caller asked for, whatever the wire it came by, with every default filled in. */
export type ImageQuestion = {
  model: string
  prompt: string
  n: number
  /** As it was asked for; null when the caller left it to the provider. */
  size: string | null
  width: number
  height: number
  format: Format
  /** 0 to 100, for jpeg and webp. */
  quality: number
  transparent: boolean
  /** Previews of each picture in a stream; null when the answer comes in one piece. */
  previews: number | null
  /** Pictures that came with it. */
  given?: Given
  /** Fields of the body that this wire does not know. */
  unknownFields: string[]
  fields: Fields
}

/** What moderation refused, if it did. */
export type Moderated = 'input' | 'output' | null
