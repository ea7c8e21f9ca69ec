/** Two images in one place, with a line between them that is moved by pointer or arrow keys. */
import { useState, type ReactNode } from 'react'
import { words } from '../../words/words.ts'

interface BeforeAfterProps {
  readonly before: string
  readonly after: string
  readonly names?: readonly [before: string, after: string]
  /** Lies over both. */
  readonly over?: ReactNode
  /** Called with width by height of the second, once it is loaded. */
  readonly onRatio?: (ratio: number) => void
}

const TAG =
  'pointer-events-none absolute top-2 rounded-chip bg-[rgb(20_21_24/0.82)] px-1.5 text-11 leading-5 text-[#fff]'

export function BeforeAfter({ before, after, names, over, onRatio }: BeforeAfterProps) {
  const [at, setAt] = useState(50)
  const text = words.images
  const [first, second] = names ?? [text.before, text.after]
  return (
    <div className="relative shrink-0 overflow-hidden rounded-control bg-sunken select-none focus-within:outline-2 focus-within:outline-accent">
      <img
        src={after}
        alt={second}
        draggable={false}
        className="block w-full"
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          onRatio?.(naturalWidth / naturalHeight)
        }
      />
      <img
        src={before}
        alt={first}
        draggable={false}
        className="absolute inset-0 size-full"
        style={{ clipPath: `inset(0 ${100 - at}% 0 0)` }}
      />
      {over}
      <span className={`${TAG} left-2`}>{first}</span>
      <span className={`${TAG} right-2`}>{second}</span>
      <span
        aria-hidden
        className="pointer-events-none absolute inset-y-0 w-0.5 -translate-x-1/2 bg-[#fff]"
        style={{ left: `${at}%` }}
      >
        <span className="absolute top-1/2 left-1/2 flex size-7 -translate-1/2 items-center justify-center rounded-full bg-[#fff] text-12 text-[#1a1b1e] shadow-menu">
          ‹›
        </span>
      </span>
      <input
        type="range"
        aria-label={text.divider}
        min={0}
        max={100}
        step={1}
        value={at}
        onChange={(event) => setAt(Number(event.target.value))}
        className="absolute inset-0 m-0 size-full cursor-ew-resize opacity-0"
      />
    </div>
  )
}
