/** Where a query is typed, with its cost before it is sent. */
import { CornerDownLeft, ImageUp, Search, X } from 'lucide-react'
import { useState } from 'react'
import { moneyExact } from '../../app/format.ts'
import { IconButton } from '../../ui/button.tsx'
import { words } from '../../words/words.ts'
import { FileButton } from '../../ui/file-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { costOf, maxTokens } from './cost.ts'
import { readMedia } from './media-store.ts'
import { mediaRefusal, takenBy } from './taken-media.ts'
import { Thumbnail } from './thumbnail.tsx'
import type { Schema } from '../../api/client.ts'
import type { QueryState } from './queries.ts'

export function QueryField({
  query,
  model,
}: {
  readonly query: QueryState
  readonly model: Schema<'ModelRow'> | undefined
}) {
  const [text, setText] = useState(query.text ?? '')
  const say = words.embeddings.query
  const taken = model && takenBy(model)
  const takesImages = taken?.inputs.includes('image') === true
  const askByImage = async ([file]: readonly File[]): Promise<void> => {
    if (file === undefined) return
    const media = await readMedia(file)
    const refusal = mediaRefusal(media, taken)
    if (refusal !== undefined) return toast(`${media.name}: ${refusal}`, { mark: 'bad' })
    setText(media.name)
    query.ask(media)
  }
  const cost = model && text.trim() !== '' ? costOf(maxTokens([text.trim()]), model.price) : null
  return (
    <form
      className="relative min-w-50 flex-1 phone:min-w-full"
      onSubmit={(event) => {
        event.preventDefault()
        query.ask(query.image !== undefined && text === query.text ? query.image : text)
      }}
      onDragOver={(event) => takesImages && event.preventDefault()}
      onDrop={(event) => {
        if (!takesImages || event.dataTransfer.files.length === 0) return
        event.preventDefault()
        void askByImage([...event.dataTransfer.files])
      }}
    >
      <span className="pointer-events-none absolute inset-y-0 left-2 flex items-center text-ink-3">
        {query.image ? (
          <Thumbnail file={query.image} size={18} />
        ) : (
          <Search size={14} aria-hidden className="ml-0.5" />
        )}
      </span>
      <input
        type="text"
        data-page-search
        aria-label={say.label}
        placeholder={say.placeholder}
        value={text}
        className="h-[30px] w-full rounded-control border border-line bg-surface pr-35 pl-8 text-13 phone:pr-16 outline-none hover:border-line-strong focus:border-accent focus:ring-3 focus:ring-accent/25 phone:h-10 phone:text-15"
        onChange={(event) => setText(event.target.value)}
      />
      <span className="absolute inset-y-0 right-1 flex items-center gap-1 text-12 text-ink-3 tabular-nums">
        {cost !== null && text.trim() !== query.text && (
          <span className="phone:hidden">{say.more(moneyExact(cost))}</span>
        )}
        {query.text !== undefined && text.trim() === query.text && query.costUsd !== null && (
          <span className="phone:hidden">{moneyExact(query.costUsd)}</span>
        )}
        {query.text !== undefined && (
          <IconButton
            label={say.clear}
            size="small"
            onClick={() => {
              setText('')
              query.forget()
            }}
          >
            <X size={13} aria-hidden />
          </IconButton>
        )}
        {takesImages && (
          <FileButton
            label={say.byImage}
            accept="image/png,image/jpeg,image/webp,image/gif"
            onFiles={(files) => void askByImage(files)}
            className="flex size-6 items-center justify-center rounded-control text-ink-2 hover:bg-tag hover:text-ink"
          >
            <ImageUp size={14} aria-hidden />
          </FileButton>
        )}
        <IconButton label={say.run} size="small" type="submit" aria-busy={query.isAsking || undefined}>
          <CornerDownLeft size={13} aria-hidden />
        </IconButton>
      </span>
    </form>
  )
}
