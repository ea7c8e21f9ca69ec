/** Media of the playground: they stay in this browser, and leave it only in a call. */
import { useEffect, useState } from 'react'
import { inBrowserStore } from '../../app/browser-store.ts'
import { formatOf, HEAD_BYTES, kindOf } from './media-format.ts'
import type { MediaFacts } from './taken-media.ts'

export interface MediaFile extends MediaFacts {
  readonly id: string
  readonly name: string
  /** As it was chosen; undefined where only the address is known. */
  readonly blob?: Blob
  /** The middle of an image, as a square. Undefined: it can't be shown. */
  readonly thumbnail?: ImageBitmap
}

/** Twice the largest that is shown, for screens with two pixels to one. */
const THUMBNAIL_EDGE = 192

type StoredMedia = Omit<MediaFile, 'thumbnail'>

let lastNumber = 0

function newId(): string {
  lastNumber += 1
  return `${Date.now().toString(36)}-${lastNumber}`
}

/** What the file is, by its bytes, with its thumbnail if this browser can show it. */
export async function readMedia(file: File): Promise<MediaFile> {
  const format = formatOf(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()))
  const kind = format === undefined ? kindOfType(file.type) : kindOf(format)
  const media = { id: newId(), name: file.name || 'image', kind, format, size: file.size, blob: file }
  return kind === 'image' ? withThumbnail(media) : media
}

function kindOfType(type: string): MediaFile['kind'] {
  const [kind] = type.split('/')
  return kind === 'audio' || kind === 'video' || kind === 'image' ? kind : 'file'
}

export function mediaOfUrl(url: string): MediaFile {
  const name = new URL(url).pathname.split('/').findLast((part) => part !== '') ?? url
  return { id: newId(), name, kind: 'image', format: undefined, size: 0, url }
}

async function withThumbnail(media: StoredMedia): Promise<MediaFile> {
  if (media.blob === undefined) return media
  try {
    const whole = await createImageBitmap(media.blob, { imageOrientation: 'from-image' })
    const { width, height } = whole
    const edge = Math.min(width, height)
    const thumbnail = await createImageBitmap(whole, (width - edge) / 2, (height - edge) / 2, edge, edge, {
      resizeWidth: THUMBNAIL_EDGE,
      resizeHeight: THUMBNAIL_EDGE,
      resizeQuality: 'high',
    })
    whole.close()
    return { ...media, width, height, thumbnail }
  } catch {
    // HEIC in most browsers, or a broken file: its line says what the model makes of it.
    return media
  }
}

export interface MediaStore {
  readonly files: ReadonlyMap<string, MediaFile>
  readonly keep: (files: readonly MediaFile[]) => void
  readonly forget: () => void
}

/** `referenced`: the ids that lines name; others of an earlier visit are deleted. Undefined until the lines are known. */
export function useMediaStore(referenced: ReadonlySet<string> | undefined): MediaStore {
  const [files, setFiles] = useState<ReadonlyMap<string, MediaFile>>(new Map())
  useEffect(() => {
    if (referenced === undefined) return
    void keptMedia(referenced).then((kept) =>
      setFiles((now) => new Map([...kept.map((one) => [one.id, one] as const), ...now])),
    )
  }, [referenced])
  return {
    files,
    keep(added) {
      setFiles((now) => new Map([...now, ...added.map((one) => [one.id, one] as const)]))
      for (const { thumbnail: _, ...stored } of added)
        void inBrowserStore('media', 'readwrite', (store) => store.put(stored, stored.id))
    },
    forget() {
      setFiles(new Map())
      void inBrowserStore('media', 'readwrite', (store) => store.clear())
    },
  }
}

async function keptMedia(referenced: ReadonlySet<string>): Promise<MediaFile[]> {
  const all = await inBrowserStore(
    'media',
    'readonly',
    (store) => store.getAll() as IDBRequest<StoredMedia[]>,
  )
  const unused = (all ?? []).filter(({ id }) => !referenced.has(id))
  for (const { id } of unused) void inBrowserStore('media', 'readwrite', (store) => store.delete(id))
  return Promise.all((all ?? []).filter(({ id }) => referenced.has(id)).map(withThumbnail))
}
