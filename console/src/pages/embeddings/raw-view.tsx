/** One vector as it came: all its values as a strip, its length, and how large it is on the wire. */
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { bytes, whole } from '../../app/format.ts'
import { useTheme } from '../../app/theme.ts'
import { useWidth } from '../../charts/size.ts'
import { token, useCanvas } from '../../charts/vectors/canvas.ts'
import { rampOf, rgbOf, stepOf } from '../../charts/vectors/ramp.ts'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Facts } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Select } from '../../ui/select.tsx'
import type { RawVector } from '../../workers/vectors.ts'
import { words } from '../../words/words.ts'
import { useVectorTask } from './vector-task.ts'
import { tokensAbout } from './cost.ts'
import type { ViewProps } from './map-view.tsx'
import type { Run } from './run.ts'

const STRIP_HEIGHT = 64
const FIRST = 8
/** Far less than a model's own rounding. */
const UNIT_WITHIN = 1e-3

export function RawView({ run }: ViewProps) {
  const [index, setIndex] = useState(0)
  const place = Math.min(index, run.count - 1)
  const { response: raw, error } = useVectorTask(run.vectors, 'raw', place)
  const say = words.embeddings.raw
  return (
    <div className="flex max-w-220 flex-col gap-4 px-5 py-3.5 phone:px-4">
      <div className="flex items-center gap-2">
        <Select
          label={say.text}
          value={String(place)}
          onChange={(next) => setIndex(Number(next))}
          options={run.typed.texts.map((text, one) => ({ value: String(one), label: text }))}
        />
        <IconButton label={say.before} onClick={() => setIndex(Math.max(0, place - 1))}>
          <ChevronLeft size={15} aria-hidden />
        </IconButton>
        <IconButton label={say.next} onClick={() => setIndex(Math.min(run.count - 1, place + 1))}>
          <ChevronRight size={15} aria-hidden />
        </IconButton>
      </div>
      {error !== undefined && <Problem error={error} className="px-0 py-1" />}
      {raw && (
        <>
          <Strip raw={raw} />
          <Facts
            labelWidth={120}
            facts={[
              [
                say.length,
                <span key="length" className="tabular-nums">
                  {raw.length.toFixed(6)}{' '}
                  <span className="text-ink-3">
                    {Math.abs(raw.length - 1) < UNIT_WITHIN ? say.unit : say.notUnit}
                  </span>
                </span>,
              ],
              [say.least, raw.least.toFixed(6)],
              [say.most, raw.most.toFixed(6)],
              [
                say.first,
                <code key="first" className="mono-12">
                  {Array.from(raw.values.subarray(0, FIRST), (value) => value.toFixed(6)).join(', ')}
                  {raw.values.length > FIRST && ', …'}
                </code>,
              ],
              [say.tokens, tokensText(run, run.typed.texts[place] ?? '')],
              [say.bytes, sizesOf(raw)],
              ...(run.space === undefined
                ? []
                : [
                    [
                      say.space,
                      <code key="space" className="mono-12">
                        {run.space}
                      </code>,
                    ] as const,
                  ]),
            ]}
          />
          <div>
            <CopyButton text={JSON.stringify(Array.from(raw.values))} label={say.copy} />
          </div>
        </>
      )}
    </div>
  )
}

function tokensText({ count, tokens, typed }: Run, text: string): string {
  const say = words.embeddings.raw
  if (count === 1) return whole(tokens)
  return say.tokensAbout(whole(tokensAbout(text, typed.texts, tokens)), whole(tokens))
}

/** As a JSON array of numbers, and as base64 of four bytes each. */
function sizesOf({ values }: RawVector): string {
  const say = words.embeddings.raw
  const asNumbers = JSON.stringify(Array.from(values)).length
  return `${say.asNumbers(bytes(asNumbers))} · ${say.asBase64(bytes(4 * Math.ceil((values.length * 4) / 3)))}`
}

function Strip({ raw }: { readonly raw: RawVector }) {
  const [box, width] = useWidth<HTMLDivElement>()
  const theme = useTheme()
  const draw = (context: CanvasRenderingContext2D): void => {
    const most = Math.max(Math.abs(raw.least), Math.abs(raw.most)) || 1
    const ground = rgbOf(token('sunken'))
    const [above, below] = [rampOf(ground, rgbOf(token('s1'))), rampOf(ground, rgbOf(token('s6')))]
    const step = width / raw.values.length
    for (const [place, value] of raw.values.entries()) {
      const colour = (value < 0 ? below : above)[stepOf(Math.abs(value), 0, most)]!
      context.fillStyle = `rgb(${colour.join(' ')})`
      context.fillRect(place * step, 0, step + 0.5, STRIP_HEIGHT)
    }
  }
  const canvas = useCanvas({ width, height: STRIP_HEIGHT }, draw, [raw, theme])
  return (
    <figure aria-label={words.embeddings.raw.strip(raw.values.length)}>
      <div ref={box} className="overflow-hidden rounded-control" style={{ height: STRIP_HEIGHT }}>
        <canvas ref={canvas} aria-hidden className="block size-full" />
      </div>
      <figcaption className="pt-1 text-12 text-ink-3">
        {words.embeddings.raw.strip(raw.values.length)}
      </figcaption>
    </figure>
  )
}
