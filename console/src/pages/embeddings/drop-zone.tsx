/** Where images come in: dropped, pasted, chosen, or by their address. */
import { ImageUp } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { FileButton, usePaste } from '../../ui/file-input.tsx'
import { words } from '../../words/words.ts'
import type { TakenMedia } from './taken-media.ts'
import { kindOf, mediaTypeOf } from './media-format.ts'

interface DropZoneProps {
  readonly taken: TakenMedia
  readonly onFiles: (files: readonly File[]) => void
  readonly onUrl: (url: string) => void
}

export function DropZone({ taken, onFiles, onUrl }: DropZoneProps) {
  const [isOver, setOver] = useState(false)
  const [url, setUrl] = useState<string>()
  const say = words.embeddings.media
  usePaste(onFiles, /^(?:image|audio|video)\/|^application\/pdf$/)
  const isAddress = url !== undefined && /^https:\/\/\S+\.\S+/.test(url) && URL.canParse(url)
  return (
    <div
      className={classes(
        'rounded-control border border-dashed px-3 py-2 text-12',
        isOver ? 'border-accent bg-accent-tint' : 'border-line-strong',
      )}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onFiles([...event.dataTransfer.files])
      }}
    >
      <div className="flex items-center gap-3">
        <ImageUp size={16} aria-hidden className="shrink-0 text-ink-2" />
        <div className="min-w-0 flex-1">
          <p>
            {say.drop}{' '}
            <FileButton
              label={say.choose}
              accept={acceptOf(taken)}
              several
              onFiles={onFiles}
              className="link"
            >
              {say.choose}
            </FileButton>{' '}
            ·{' '}
            <button type="button" className="link" onClick={() => setUrl(url === undefined ? '' : undefined)}>
              {say.addUrl}
            </button>
          </p>
          {taken.fuses && <p className="text-ink-2">{say.dropOnLine}</p>}
        </div>
      </div>
      {url !== undefined && (
        <form
          className="mt-2 flex gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            if (!isAddress) return
            onUrl(url)
            setUrl(undefined)
          }}
        >
          <input
            type="url"
            autoFocus
            aria-label={say.url}
            placeholder="https://"
            value={url}
            className="h-7 min-w-0 flex-1 rounded-control border border-line-strong bg-surface px-2 text-12 outline-none focus:border-accent phone:h-9 phone:text-15"
            onChange={(event) => setUrl(event.target.value.trim())}
          />
          <Button type="submit" why={isAddress ? undefined : say.urlHint}>
            {say.add}
          </Button>
        </form>
      )}
    </div>
  )
}

/** A phone offers its camera and its gallery for images. */
function acceptOf({ formats, inputs }: TakenMedia): string {
  return formats
    .filter((format) => inputs.includes(kindOf(format)))
    .map(mediaTypeOf)
    .join(',')
}
