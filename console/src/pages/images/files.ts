/** The ending of an image file's name. */
export function extensionOf(type: string): string {
  return type === 'image/jpeg' ? 'jpg' : type === 'image/webp' ? 'webp' : 'png'
}
