/** Two images of the history in one view: beside each other, or one over the other with a line between them. */
import { X } from 'lucide-react'
import { useState } from 'react'
import { apiUrl } from '../../api/client.ts'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { duration } from '../../app/format.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { BeforeAfter } from './before-after.tsx'
import { costOfJob } from './shown-job.ts'

interface ComparePaneProps {
  /** At most two, in the order in which they were chosen. */
  readonly jobs: readonly ImageJob[]
  readonly onClose: () => void
}

interface Side {
  readonly job: ImageJob
  readonly index: number
}

export function ComparePane({ jobs, onClose }: ComparePaneProps) {
  const text = words.images
  const [view, setView] = useState<'beside' | 'slider'>('beside')
  const sides = sidesOf(jobs)
  return (
    <section aria-label={text.compare} className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-3 border-b border-line px-5 py-1.5 phone:px-4">
        <h2 className="flex-1 text-13 font-semibold">{text.compare}</h2>
        {sides !== undefined && (
          <Segmented
            label={text.views.label}
            value={view}
            onChange={setView}
            segments={[
              { value: 'beside', label: text.beside },
              { value: 'slider', label: text.slider },
            ]}
          />
        )}
        <Button look="quiet" icon={<X size={14} aria-hidden />} onClick={onClose}>
          {text.close}
        </Button>
      </header>
      {sides === undefined ? (
        <Empty title={text.compareEmpty}>{text.compareNext}</Empty>
      ) : (
        <Both key={jobs.map(({ id }) => id).join(' ')} first={sides} view={view} />
      )}
    </section>
  )
}

/** Two images of one request compare as well as two requests. */
function sidesOf([one, other]: readonly ImageJob[]): readonly [Side, Side] | undefined {
  if (one === undefined) return undefined
  if (other !== undefined)
    return [
      { job: one, index: 0 },
      { job: other, index: 0 },
    ]
  if (one.pictures.length < 2) return undefined
  return [
    { job: one, index: 0 },
    { job: one, index: 1 },
  ]
}

function Both({
  first,
  view,
}: {
  readonly first: readonly [Side, Side]
  readonly view: 'beside' | 'slider'
}) {
  const text = words.images
  const [indices, setIndices] = useState<readonly [number, number]>([first[0].index, first[1].index])
  const sides = first.map(({ job }, side) => {
    const index = indices[side] ?? 0
    const asset = job.pictures[index]?.asset ?? ''
    return {
      job,
      index,
      url: apiUrl(`/api/v1/assets/${asset}/content`),
      name: job.pictures.length > 1 ? `${job.model}, ${text.tile(index + 1)}` : job.model,
    }
  })
  const [left, right] = sides
  if (left === undefined || right === undefined) return null
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-5 py-4 phone:overflow-visible phone:px-4">
      {view === 'slider' && (
        <BeforeAfter before={left.url} after={right.url} names={[left.name, right.name]} />
      )}
      <div className="grid grid-cols-2 gap-4">
        {sides.map(({ job, index, url, name }, side) => (
          <figure key={side} className="flex min-w-0 flex-col gap-2">
            {view === 'beside' && <img src={url} alt={name} className="w-full rounded-control bg-sunken" />}
            <figcaption className="flex flex-col gap-2">
              <span className="truncate text-13 font-semibold">{name}</span>
              {job.pictures.length > 1 && (
                <Segmented
                  label={text.whichPicture(side + 1)}
                  value={String(index)}
                  onChange={(next) =>
                    setIndices(([one, other]) => (side === 0 ? [Number(next), other] : [one, Number(next)]))
                  }
                  segments={job.pictures.map((_, place) => ({
                    value: String(place),
                    label: place + 1,
                    name: text.tile(place + 1),
                  }))}
                />
              )}
              <Figures
                size="peek"
                figures={[
                  { name: text.facts.took, value: duration(job.duration_ms ?? undefined) },
                  { name: text.facts.cost, value: costOfJob(job) },
                ]}
              />
            </figcaption>
          </figure>
        ))}
      </div>
    </div>
  )
}
