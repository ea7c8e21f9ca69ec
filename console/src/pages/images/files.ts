/** Files that leave the page, and those that come in. */

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the bytes by the time the next task runs.
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}

export function extensionOf(type: string): string {
  return type === 'image/jpeg' ? 'jpg' : type === 'image/webp' ? 'webp' : 'png'
}
