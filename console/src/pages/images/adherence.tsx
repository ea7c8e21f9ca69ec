/** Mask adherence: how many unpainted pixels came back as they were, and where those are that did not. */
import { CircleHelp, ShieldCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { share } from '../../app/format.ts'
import { Tip } from '../../ui/tooltip.tsx'
import { words } from '../../words/words.ts'
import { adherenceOf, LOSSY_THRESHOLD } from '../../workers/pixels/compare.ts'
import type { Compared } from '../../workers/pixels.worker.ts'

export function Adherence({ compared }: { readonly compared: Compared }) {
  const text = words.images
  const { comparison, kept } = compared
  const { outside, inside } = comparison
  const part = adherenceOf(comparison)
  const rows = [
    [text.changedOutside, text.pixels(outside.changed)],
    [text.changedShare, outside.pixels === 0 ? '–' : share(outside.changed / outside.pixels, 2)],
    [text.changedInside, inside.pixels === 0 ? '–' : share(inside.changed / inside.pixels)],
    [text.threshold, text.over(comparison.threshold)],
  ] as const
  return (
    <section aria-label={text.adherence} className="flex w-65 shrink-0 flex-col gap-3 phone:w-full">
      <header className="flex items-center justify-between">
        <h2 className="font-semibold">{text.adherence}</h2>
        <Tip text={text.adherenceHelp} side="left">
          <button type="button" aria-label={text.adherenceHelp} className="text-ink-3">
            <CircleHelp size={15} aria-hidden />
          </button>
        </Tip>
      </header>
      {part === undefined ? (
        <p className="text-ink-2">{text.noneUnpainted}</p>
      ) : (
        <>
          <p className="flex items-center gap-3">
            <span data-adherence className="text-24 font-strong tabular-nums">
              {share(part, 2)}
            </span>
            <span className="text-12 leading-[14px] text-ink-2">
              {text.adherenceNote[0]}
              <br />
              {text.adherenceNote[1]}
            </span>
          </p>
          <div aria-hidden className="flex h-2 overflow-hidden rounded-full bg-bad-fill">
            <div className="bg-good-fill" style={{ width: `${part * 100}%` }} />
          </div>
        </>
      )}
      <ChangedMap compared={compared} />
      <dl className="flex flex-col gap-1.5 text-12">
        {rows.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-3">
            <dt className="text-ink-3">{name}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {comparison.isScaled && <p className="text-12 text-ink-2">{text.scaled}</p>}
      {comparison.threshold === LOSSY_THRESHOLD && <p className="text-12 text-ink-2">{text.lossy}</p>}
      {kept !== undefined && (
        <p role="status" className="flex gap-2 rounded-control bg-good-tint px-3 py-2.5 text-12 text-ink">
          <ShieldCheck size={15} aria-hidden className="mt-px shrink-0 text-good" />
          <span>
            {text.kept(kept.comparison.outside.changed)} {text.keptNote}
          </span>
        </p>
      )}
    </section>
  )
}

export function ChangedMap({ compared: { map, edge } }: { readonly compared: Compared }) {
  return (
    <div className="relative overflow-hidden rounded-control">
      <Bitmap bitmap={map} className="block w-full" name={words.images.changedMap} />
      {edge !== undefined && <MaskEdge edge={edge} />}
    </div>
  )
}

/** Over an image that fills its box. */
export function MaskEdge({ edge }: { readonly edge: ImageBitmap }) {
  return <Bitmap bitmap={edge} className="pointer-events-none absolute inset-0 size-full" />
}

interface BitmapProps {
  readonly bitmap: ImageBitmap
  readonly className: string
  /** Without one it says nothing of its own. */
  readonly name?: string
}

function Bitmap({ bitmap, className, name }: BitmapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    element.width = bitmap.width
    element.height = bitmap.height
    element.getContext('2d')?.drawImage(bitmap, 0, 0)
  }, [bitmap])
  return (
    <canvas
      ref={canvas}
      {...(name === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': name })}
      className={className}
    />
  )
}
