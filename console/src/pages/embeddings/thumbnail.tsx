/** A small square for an input: its image, or a letter or sign of its kind. */
import { AudioLines, FileText, Film, Image, Link2, Type } from 'lucide-react'
import { useEffect, useRef, type ReactNode } from 'react'
import type { LineInput } from './content-lines.ts'
import type { MediaFile } from './media-store.ts'

const SIGNS: Record<MediaFile['kind'], typeof Image> = {
  image: Image,
  audio: AudioLines,
  video: Film,
  file: FileText,
}

interface ThumbnailProps {
  /** Undefined: a text. */
  readonly file: MediaFile | undefined
  readonly size: number
}

export function Thumbnail({ file, size }: ThumbnailProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null)
  const thumbnail = file?.thumbnail
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !thumbnail) return
    const { width, height } = context.canvas
    context.clearRect(0, 0, width, height)
    context.drawImage(thumbnail, 0, 0, width, height)
  }, [thumbnail])
  const look = 'shrink-0 rounded-chip'
  if (thumbnail)
    return (
      <canvas
        ref={canvas}
        aria-hidden
        width={2 * size}
        height={2 * size}
        className={look}
        style={{ width: size, height: size }}
      />
    )
  const Sign = file === undefined ? Type : file.url === undefined ? SIGNS[file.kind] : Link2
  return (
    <span
      aria-hidden
      className={`${look} flex items-center justify-center bg-sunken text-ink-2`}
      style={{ width: size, height: size }}
    >
      <Sign size={Math.min(16, Math.round(size * 0.5))} />
    </span>
  )
}

/** Of an input, its first media; a text has a T. */
export function InputThumbnail({
  input,
  files,
  size,
}: {
  readonly input: LineInput | undefined
  readonly files: ReadonlyMap<string, MediaFile>
  readonly size: number
}) {
  return <Thumbnail file={files.get(input?.media[0]?.id ?? '')} size={size} />
}
