/** The image of a row: an address goes to the gateway as it is, a file as a data URL. */
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { MAX_LINE_BYTES } from '../json-lines.ts'

/** Largest image file: in base64, it fits the line of a batch beside a text. */
const MAX_IMAGE_BYTES = (MAX_LINE_BYTES / 4) * 3 - 1024 * 1024

/** Why an image can't be sent, in the gateway's codes. */
export interface UnreadImage {
  readonly code: 'media_unreachable' | 'media_too_large' | 'invalid_media'
  readonly message: string
}

const ADDRESS = /^(?:https?|gs|s3|data):/i

/** `folder`: where relative paths begin. */
export async function readImage(image: string, folder: string): Promise<string | UnreadImage> {
  if (ADDRESS.test(image)) return image
  const path = resolve(folder, image)
  const size = await sizeOf(path)
  if (size === undefined) return { code: 'media_unreachable', message: `there is no file ${path}.` }
  if (size > MAX_IMAGE_BYTES)
    return {
      code: 'media_too_large',
      message: `${path} has ${size} bytes; at most ${MAX_IMAGE_BYTES} are allowed.`,
    }
  const bytes = await readFile(path)
  const type = typeOf(bytes)
  return type === undefined
    ? { code: 'invalid_media', message: `${path} is not a PNG, JPEG, WebP or GIF file.` }
    : `data:image/${type};base64,${bytes.toString('base64')}`
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true ? found.size : undefined
}

/** The first bytes decide, as they do at the gateway. */
function typeOf(bytes: Buffer): string | undefined {
  const begins = (start: string, at = 0): boolean => bytes.toString('latin1', at, at + start.length) === start
  if (begins('\x89PNG\r\n\x1a\n')) return 'png'
  if (begins('\xff\xd8\xff')) return 'jpeg'
  if (begins('GIF87a') || begins('GIF89a')) return 'gif'
  return begins('RIFF') && begins('WEBP', 8) ? 'webp' : undefined
}
