/** The nearest inputs, all or of one kind: scores of texts and of images are not on one scale. */
import { useState } from 'react'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { NearestList } from './nearest-list.tsx'
import type { Ranked } from './queries.ts'
import type { Run } from './run.ts'

interface NearestByKindProps {
  readonly rows: readonly Ranked[]
  readonly shown: number
  readonly run: Run
  readonly onPoint?: (index: number | undefined) => void
}

export function NearestByKind({ rows, shown, run, onPoint }: NearestByKindProps) {
  const [kind, setKind] = useState<'all' | 'media' | 'texts'>('all')
  const say = words.embeddings.media
  const isText = ({ index }: Ranked): boolean => run.typed.inputs[index]?.media.length === 0
  const texts = rows.filter(isText)
  const media = rows.filter((row) => !isText(row))
  const isMixed = texts.length > 0 && media.length > 0
  const chosen = !isMixed || kind === 'all' ? rows : kind === 'texts' ? texts : media
  return (
    <div className="flex flex-col gap-2">
      {isMixed && (
        <Segmented
          label={say.filter}
          value={kind}
          segments={[
            { value: 'all', label: say.all, count: rows.length },
            { value: 'media', label: say.images, count: media.length },
            { value: 'texts', label: say.texts, count: texts.length },
          ]}
          onChange={setKind}
          className="self-start"
        />
      )}
      <NearestList rows={chosen.slice(0, shown)} run={run} {...(onPoint && { onPoint })} />
      {isMixed && kind === 'all' && <p className="text-12 text-ink-2">{say.higher}</p>}
    </div>
  )
}
