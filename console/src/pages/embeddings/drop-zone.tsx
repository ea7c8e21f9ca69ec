/** Where images come in: dropped, pasted, chosen, or by their address. */
import { ImageUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { FileButton, usePaste } from '../../ui/file-input.tsx'
import { words } from '../../words/words.ts'
import type { TakenMedia } from './taken-media.ts'
import { isFormat, kindOf, mediaTypeOf } from './media-format.ts'

interface DropZoneProps {
  readonly taken: TakenMedia
  readonly onFiles: (files: readonly File[]) => void
  readonly onUrl: (url: string) => void
}

export function DropZone({ taken, onFiles, onUrl }: DropZoneProps) {
  const [isOver, setOver] = useState(false)
  const [isUrlOpen, setUrlOpen] = useState(false)
  const say = words.embeddings.media
  usePaste(onFiles, /^(?:image|audio|video)\/|^application\/pdf$/)
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
            <button type="button" className="link" onClick={() => setUrlOpen(!isUrlOpen)}>
              {say.addUrl}
            </button>
          </p>
          {taken.fuses && <p className="text-ink-2">{say.dropOnLine}</p>}
        </div>
      </div>
      {isUrlOpen && (
        <UrlForm
          onUrl={(url) => {
            onUrl(url)
            setUrlOpen(false)
          }}
        />
      )}
    </div>
  )
}

function UrlForm({ onUrl }: { readonly onUrl: (url: string) => void }) {
  const [url, setUrl] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const say = words.embeddings.media
  useEffect(() => field.current?.focus(), [])
  const isAddress = /^https:\/\/\S+\.\S+/.test(url) && URL.canParse(url)
  return (
    <form
      className="mt-2 flex gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (isAddress) onUrl(url)
      }}
    >
      <input
        ref={field}
        type="url"
        aria-label={say.url}
        placeholder="https://"
        value={url}
        className="h-7 min-w-0 flex-1 rounded-control border border-line-strong bg-surface px-2 text-12 outline-none focus:border-accent phone:h-9 phone:text-15"
        onChange={(event) => setUrl(event.target.value.trim())}
      />
      <Button type="submit" writes={false} why={isAddress ? undefined : say.urlHint}>
        {say.add}
      </Button>
    </form>
  )
}

/** A phone offers its camera and its gallery for images. */
function acceptOf({ formats, inputs }: TakenMedia): string {
  return formats
    .filter(isFormat)
    .filter((format) => inputs.includes(kindOf(format)))
    .map(mediaTypeOf)
    .join(',')
}
